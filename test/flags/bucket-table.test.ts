import fc from 'fast-check'
import t from 'tap'
import { bucketOf, flagPrefix, noSalt, variantSalt } from '../../src/flags/bucket.ts'
import { idBytesMax, prefixBytesMax, textsMax } from '../../src/flags/bucket-layout.ts'
import { BucketTable, createHasher, noPlace } from '../../src/flags/bucket-table.ts'

interface Text {
  readonly prefix: Uint8Array
  readonly isVariant: boolean
}

/** What the table says and what each hashed alone says, in an order in which nobody asks. */
function bothWays(texts: readonly Text[], idBytes: Uint8Array): { quick: number[]; plain: number[] } {
  const table = new BucketTable()
  const placed = texts.map(({ prefix, isVariant }) => ({
    place: table.add(prefix, isVariant),
    plain: bucketOf(prefix, idBytes, isVariant ? variantSalt : noSalt),
  }))
  const buckets = table.of(idBytes)!
  const asked = placed.toReversed()
  return { quick: asked.map(({ place }) => buckets.at(place)), plain: asked.map(({ plain }) => plain) }
}

t.test('says of a flag what SDKs compute (A4)', async (t) => {
  const table = new BucketTable()
  const places = [false, true].map((isVariant) => table.add(flagPrefix('multivariate-flag'), isVariant))
  const buckets = table.of(Buffer.from('distinct_id_0'))!
  t.same(
    places.map((place) => buckets.at(place).toFixed(15)),
    ['0.502037796130735', '0.618645453793038'],
  )
})

t.test('agrees with one by one at every length of an id, of one block to five', async (t) => {
  for (let length = 0; length <= idBytesMax; length++) {
    const texts = Array.from({ length: 6 }, (_, index) => ({
      prefix: Buffer.from('p'.repeat((index * 37 + length) % (prefixBytesMax + 1))),
      isVariant: (index + length) % 2 === 0,
    }))
    const { quick, plain } = bothWays(texts, Buffer.alloc(length, `${length}-`))
    t.same(quick, plain, `${length} bytes`)
  }
})

t.test('agrees with one by one, however many there are', async () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((one) => Buffer.from(one))
  const text = fc.record({ prefix: bytes(prefixBytesMax), isVariant: fc.boolean() })
  const texts = fc.array(text, { minLength: 1, maxLength: textsMax * 2 + 5 })
  fc.assert(
    fc.property(texts, bytes(idBytesMax), (texts, idBytes) => {
      const { quick, plain } = bothWays(texts, idBytes)
      return quick.every((bucket, index) => bucket === plain[index])
    }),
  )
})

t.test('ids that ask in turn do not disturb each other', async (t) => {
  const table = new BucketTable()
  const prefixes = Array.from({ length: textsMax * 2 }, (_, index) => flagPrefix(`flag-${index}`))
  const places = prefixes.map((prefix) => table.add(prefix, false))
  const asking = ['ada', 'a-much-longer-id-than-that-of-ada-so-that-it-takes-two-blocks'].map((id) => ({
    idBytes: Buffer.from(id),
    buckets: table.of(Buffer.from(id))!,
  }))
  for (const [index, place] of places.entries()) {
    for (const { idBytes, buckets } of asking) {
      t.equal(buckets.at(place), bucketOf(prefixes[index]!, idBytes, noSalt))
    }
  }
})

t.test('what is longer than its room is hashed alone', async (t) => {
  const table = new BucketTable()
  t.equal(table.add(Buffer.alloc(prefixBytesMax + 1, 'k'), false), noPlace)
  t.equal(table.of(Buffer.from('ada')), null, 'without a text')
  t.equal(table.add(Buffer.alloc(prefixBytesMax, 'k'), false), 0)
  t.not(table.of(Buffer.alloc(idBytesMax, 'i')), null)
  t.equal(table.of(Buffer.alloc(idBytesMax + 1, 'i')), null)
})

t.test('without the module every one is hashed alone', async (t) => {
  const hasher = createHasher(null)
  t.equal(hasher, null)
  t.equal(new BucketTable(hasher).add(flagPrefix('beta'), false), noPlace)
})
