import { gzipSync } from 'node:zlib'
import t from 'tap'
import { readFlagBody } from '../../src/flags/flag-body.ts'

function read(body: string | Buffer): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'content-encoding': '' }
  return readFlagBody(
    { query: '', headers: { ...noHeaders, ...headers }, body: new Uint8Array(Buffer.from(body)) },
    true,
  )
}

const noHeaders = {
  authorization: '',
  host: '',
  'if-none-match': '',
  origin: '',
  'user-agent': '',
  'x-forwarded-for': '',
  http_x_forwarded_for: '',
}

t.test('NaN and Infinity are null outside of strings, and text inside', async (t) => {
  t.same(await read('{"a":NaN,"b":[-Infinity,Infinity],"NaN":"-Infinity \\" NaN"}'), {
    a: null,
    b: [null, null],
    NaN: '-Infinity " NaN',
  })
  for (const body of ['{"a":NaNa}', '{"a":nan}', '{"a":NaN', '{"a":NaN NaN}']) {
    await t.rejects(read(body), { code: 'malformed_data' }, body)
  }
})

t.test(
  'more of them than could stand between the commas are refused without a look at the rest',
  async (t) => {
    const many = (count: number): string => `{"a":[${Array(count).fill('NaN').join(',')}]}`
    t.same(await read(many(19_000)), { a: Array(19_000).fill(null) })
    await t.rejects(read(`{"a":NaN${' NaN'.repeat(20_000)}}`), { code: 'malformed_data' })
  },
)

t.test('bodies that are read in turns are not mixed up', async (t) => {
  // A number that is no double is read from the text itself, in the last turn.
  const packed = (id: string) => gzipSync(`{"a":"${'x'.repeat(50_000)}","distinct_id":${id}}`)
  const ids = ['12345678901234567890', '98765432109876543210']
  const bodies = await Promise.all(ids.map((id) => read(packed(id))))
  t.match(
    bodies,
    ids.map((id) => ({ distinct_id: id })),
  )
})

t.test('others have their turn between the steps of a large body', async (t) => {
  const turnsDuring = async (body: string): Promise<number> => {
    let isRead = false
    const reading = read(body).then(() => {
      isRead = true
    })
    let turns = 0
    for (; !isRead; turns++) await new Promise((resolve) => setImmediate(resolve))
    await reading
    return turns
  }
  const large = 'x'.repeat(100_000)
  t.ok((await turnsDuring('{"distinct_id":1,"a":"x"}')) <= 1)
  t.ok((await turnsDuring(`{"distinct_id":1,"a":"${large}"}`)) >= 4)
  t.ok((await turnsDuring(`{"distinct_id":1,"a":NaN,"b":"${large}"}`)) >= 6)
})
