import t from 'tap'
import { withNumbersAsSent } from '../../src/flags/number-text.ts'

const read = (text: string): unknown =>
  withNumbersAsSent(JSON.parse(text), new Uint8Array(Buffer.from(text)), ['id', 'other'])

t.test('numbers are told as they were sent', async (t) => {
  t.same(read('{"id":12345678901234567890,"other": 1.0 ,"n":2}'), {
    id: '12345678901234567890',
    other: '1.0',
    n: 2,
  })
  t.same(read('{"id":-0,"other":1E5}'), { id: '-0', other: '1E5' })
})

t.test('anything else stays as it is', async (t) => {
  const text = '{"id":"1.0","other":true,"in":{"id":1.0}}'
  t.same(read(text), JSON.parse(text))
  t.same(read('{"id":null}'), { id: null })
})

t.test('the last of repeated names counts, however it is written', async (t) => {
  t.same(read('{"id":1.0,"id":2.0}'), { id: '2.0' })
  t.same(read('{"id":1.0,"\\u0069d":2.0}'), { id: '2.0' })
  t.same(read('{"id":"x","id":2.0}'), { id: '2.0' })
})

t.test('what only a lenient reader takes has them in their shortest form', async (t) => {
  const body = { id: 1, other: 2 }
  t.equal(withNumbersAsSent(body, new Uint8Array(Buffer.from('{"a":NaN,"id":1.0}')), ['id']), body)
})

t.test('of a number that is longer than any id the beginning is told', async (t) => {
  t.same(read(`{"id":1${'0'.repeat(5000)},"other":2}`), { id: `1${'0'.repeat(999)}`, other: '2' })
})

t.test('names are found among long ones, and written as escapes', async (t) => {
  const long = 'x'.repeat(1000)
  const escaped = [...'other'].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')
  t.same(read(`{"${long}":1,"${escaped}":1.0,"id":2.0}`), { [long]: 1, other: '1.0', id: '2.0' })
})
