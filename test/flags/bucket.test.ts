import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { bucketOf, flagPrefix, holdoutPrefix, noSalt, variantSalt } from '../../src/flags/bucket.ts'

/** The same number by another way. */
function plainBucket(text: string): number {
  const hex = createHash('sha1').update(text).digest('hex')
  return Number(BigInt(`0x${hex.slice(0, 15)}`)) / 2 ** 60
}

function rounded(bucket: number): string {
  return bucket.toFixed(15)
}

t.test('buckets are the ones that SDKs compute (A1 to A11)', async (t) => {
  const vectors = [
    ['simple-flag', 'distinct_id_0', 'c8a05362b9f414f', '0.783696376422043', '0.659524886978748'],
    ['simple-flag', 'distinct_id_1', '56f70997ddf6067', '0.339706992699540', '0.507159242836342'],
    ['simple-flag', 'distinct_id_2', '5f3e3d121e822df', '0.372043435023905', '0.765737796046386'],
    ['multivariate-flag', 'distinct_id_0', '80858c8bbcc7ad0', '0.502037796130735', '0.618645453793038'],
    ['multivariate-flag', 'distinct_id_18', '47108a6f05b2385', '0.277596141915361', '0.913624602742897'],
    ['beta-feature', 'user1', '9d9dc28ea09b36d', '0.615688476391921', '0.762839334905973'],
    ['Beta-Feature', 'user1', '61619db2f6174b9', '0.380395752135965', '0.290994883497446'],
    ['beta-feature', 'user-123', 'a74ce189fe821bb', '0.653516861143096', '0.536585666516298'],
    ['beta-feature', 'héllo', '133e6be3413c98d', '0.075171225530755', '0.876406636308811'],
    ['group-flag', 'amazon', '8b12954da88153a', '0.543252307376411', '0.885033314423855'],
    [
      'new-checkout',
      '00000000-0000-0000-0000-000000000001',
      '229b852ede60009',
      '0.135185550634901',
      '0.497462399550579',
    ],
  ] as const
  for (const [key, id, hex15, rollout, variant] of vectors) {
    const idBytes = Buffer.from(id)
    t.equal(bucketOf(flagPrefix(key), idBytes, noSalt), Number.parseInt(hex15, 16) / 2 ** 60)
    t.equal(rounded(bucketOf(flagPrefix(key), idBytes, noSalt)), rollout)
    t.equal(rounded(bucketOf(flagPrefix(key), idBytes, variantSalt)), variant)
  }
})

t.test('a holdout has a bucket of its own, whatever the flag (A12)', async (t) => {
  const vectors = [
    ['user1', '2b7809aa1b02cd4', '0.169800380735079'],
    ['user-123', '187ee2ff822b4c9', '0.095686137561797'],
    ['amazon', 'd9653850601baa4', '0.849200744269281'],
  ] as const
  for (const [id, hex15, bucket] of vectors) {
    t.equal(bucketOf(holdoutPrefix, Buffer.from(id), noSalt), Number.parseInt(hex15, 16) / 2 ** 60)
    t.equal(rounded(bucketOf(holdoutPrefix, Buffer.from(id), noSalt)), bucket)
  }
})

t.test('a group is bucketed by its key (A13)', async (t) => {
  const acme = Buffer.from('acme')
  t.equal(bucketOf(flagPrefix('company-flag'), acme, noSalt).toFixed(9), '0.356066538')
  t.equal(bucketOf(flagPrefix('company-flag'), acme, variantSalt).toFixed(9), '0.585596739')
})

t.test('any key and id give what another way of hashing gives', async () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 300 })
  fc.assert(
    fc.property(anyText, anyText, fc.boolean(), (key, id, isVariant) => {
      const salt = isVariant ? 'variant' : ''
      const bucket = bucketOf(flagPrefix(key), Buffer.from(id), Buffer.from(salt))
      return bucket === plainBucket(`${key}.${id}${salt}`)
    }),
  )
})

t.test('ids longer than all before them are hashed whole', async (t) => {
  const id = 'x'.repeat(5000)
  t.equal(bucketOf(flagPrefix('long'), Buffer.from(id), noSalt), plainBucket(`long.${id}`))
})
