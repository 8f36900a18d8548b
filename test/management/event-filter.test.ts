import t from 'tap'
import { type Micros, microsFromMs } from '../../src/lib/clock.ts'
import {
  decodeCursor,
  encodeCursor,
  readMoment,
  readPropertyFilters,
} from '../../src/management/event-filter.ts'

const nowMs = Date.UTC(2024, 4, 31, 12)

const moments: [text: string, iso: string][] = [
  ['2024-05-01T12:00:00.123456Z', '2024-05-01T12:00:00.123Z'],
  ['2024-05-01', '2024-05-01T00:00:00.000Z'],
  ['-24h', '2024-05-30T12:00:00.000Z'],
  ['-7d', '2024-05-24T12:00:00.000Z'],
  ['-2w', '2024-05-17T12:00:00.000Z'],
  ['-90s', '2024-05-31T11:58:30.000Z'],
  ['-5M', '2024-05-31T11:55:00.000Z'],
  ['-1m', '2024-04-30T12:00:00.000Z'],
  ['-1q', '2024-02-29T12:00:00.000Z'],
  ['-1y', '2023-05-31T12:00:00.000Z'],
]
for (const [text, iso] of moments) {
  t.test(`reads ${text}`, async (t) => {
    t.equal(new Date(readMoment(text, 'after', nowMs) / 1000).toISOString(), iso)
  })
}

t.test('keeps microseconds', async (t) => {
  t.equal(readMoment('1970-01-01T00:00:00.000001Z', 'after', nowMs), 1)
})

for (const text of ['yesterday', '-1x', '24h', '-123456h', '+999999-01-01', '-290400-01-01']) {
  t.test(`refuses ${text}`, async (t) => {
    t.throws(() => readMoment(text, 'before', nowMs), { code: 'invalid_input', attr: 'before' })
  })
}

t.test('reads filters on properties', async (t) => {
  const text =
    '[{"key":"$browser","value":["Chrome","Safari"],"operator":"is_not","type":"event"},{"key":"n","value":1}]'
  t.strictSame(readPropertyFilters(text), [
    { key: '$browser', operator: 'is_not', value: ['Chrome', 'Safari'] },
    { key: 'n', operator: 'exact', value: 1 },
  ])
})

t.test('reads filters on properties of persons where those are asked for', async (t) => {
  const filter = { key: 'plan', operator: 'exact', value: 'pro' }
  t.strictSame(readPropertyFilters('[{"key":"plan","value":"pro"}]', 'person'), [filter])
  t.strictSame(readPropertyFilters('[{"key":"plan","value":"pro","type":"person"}]', 'person'), [filter])
  t.throws(() => readPropertyFilters('[{"key":"plan","type":"event"}]', 'person'), { code: 'invalid_input' })
})

const refused: string[] = [
  '{',
  '{}',
  '[1]',
  '[{"value":1}]',
  '[{"key":"a","value":{}}]',
  '[{"key":"a","value":[[1]]}]',
  '[{"key":"a","value":1,"type":"person"}]',
  '[{"key":"a","value":1,"operator":"sounds_like"}]',
  JSON.stringify(Array.from({ length: 51 }, () => ({ key: 'a', value: 1 }))),
  JSON.stringify([{ key: 'a', value: Array.from({ length: 501 }, () => 1) }]),
]
for (const text of refused) {
  t.test(`refuses the filters ${text.slice(0, 60)}`, async (t) => {
    t.throws(() => readPropertyFilters(text), { code: 'invalid_input', attr: 'properties' })
  })
}

t.test('decodes the cursors it encodes and no others', async (t) => {
  const cursor = { timestampMicros: microsFromMs(nowMs), lane: 1, position: 2 ** 40, index: 7 }
  t.strictSame(decodeCursor(encodeCursor(cursor)), cursor)
  const before1970 = { ...cursor, timestampMicros: -5 as Micros } // a moment in microseconds
  t.strictSame(decodeCursor(encodeCursor(before1970)), before1970)
  // The first moment that is stored, the zero of .NET and Go, and the last.
  for (const micros of [-62_167_219_200_000_000, -62_135_596_800_000_000, 253_402_300_799_999_000]) {
    const farAway = { ...cursor, timestampMicros: micros as Micros } // as above
    t.strictSame(decodeCursor(encodeCursor(farAway)), farAway)
  }
  const forged = ['', 'x', '[1,2,3]', '[1,256,3,4]', '[1,2,3,4294967296]', '[1,2,3,"4"]', '[1,2,3,4] or 1']
  for (const text of forged) {
    t.throws(() => decodeCursor(Buffer.from(text).toString('base64url')), {
      code: 'invalid_input',
      attr: 'cursor',
    })
  }
})
