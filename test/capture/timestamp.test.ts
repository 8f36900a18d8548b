import fc from 'fast-check'
import t from 'tap'
import { parseSentAt, parseTimestamp, parseTimestampBytes } from '../../src/capture/timestamp.ts'

/** What the standard library makes of an ISO text that it understands, in µs. */
function plainMicros(text: string): number {
  return Date.parse(text) * 1000
}

t.test('agrees with Date.parse on every moment of the years 0 to 9999', async (t) => {
  const moment = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  const zone = fc.constantFrom('Z', '+00:00', '-00:00', '+05:30', '-11:45', '+14:00')
  fc.assert(
    fc.property(moment, zone, (date, suffix) => {
      const text = date.toISOString().replace('Z', suffix)
      return parseTimestamp(text) === plainMicros(text)
    }),
    { numRuns: 5000 },
  )
  t.pass('5000 moments')
})

t.test('agrees with Date.parse on which days exist', async (t) => {
  const pad = (value: number) => String(value).padStart(2, '0')
  for (const year of [1900, 1972, 2000, 2023, 2024, 2100]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${pad(month)}-${pad(day)}`
        const date = new Date(`${text}T00:00:00Z`)
        const exists = !Number.isNaN(date.getTime()) && date.getUTCDate() === day
        const expected = exists ? date.getTime() * 1000 : null
        if (parseTimestamp(text) !== expected) t.equal(parseTimestamp(text), expected, text)
      }
    }
  }
  t.equal(parseTimestamp('2024-02-29'), 1709164800000000)
})

t.test('case 57 and its neighbours: reads every form that the public API reads', async (t) => {
  const noon = 1714564800000000 // 2024-05-01T12:00:00Z
  const forms: [string, number][] = [
    ['2024-05-01T12:00:00Z', noon],
    ['2024-05-01t12:00:00z', noon],
    ['2024-05-01T12:00:00', noon],
    ['2024-05-01T12:00', noon],
    ['2024-05-01 12:00:00', noon],
    ['2024-05-01 12:00:00 UTC', noon],
    ['2024-05-01 12:00:00 +0000', noon],
    ['2024-05-01T14:00:00+02', noon],
    ['2024-05-01T07:00:00-0500', noon],
    ['2024-05-01T17:30:00+05:30', noon],
    ['2024-05-01T12:00:00.123456+00:00', noon + 123456],
    ['2024-05-01T12:00:00.123456789Z', noon + 123456],
    ['2024-05-01T12:00:00.1', noon + 100000],
    ['2024-05-01T12:00:00,5Z', noon + 500000],
    ['2024-05-01T11:59:60Z', noon],
    ['2024-05-01', noon - 43200000000],
    [' 2024-05-01T12:00:00Z ', noon],
    ['2024/05/01 12:00:00', noon],
    ['2024/5/1', noon - 43200000000],
    ['05/01/2024 12:00', noon],
    ['5/1/2024 12:00:00 PM', noon],
    ['5/1/2024 12:00 AM', noon - 43200000000],
    ['Wed, 1 May 2024 12:00:00 +0000', noon],
    ['Wed, 01 May 2024 14:00:00 +0200', noon],
    ['1 May 2024 12:00 GMT', noon],
    ['1714564800', noon],
    ['1714564800.25', noon + 250000],
    ['1714564800123', noon + 123000],
    ['1714564800123456', noon + 123456],
    ['+2024-05-01T12:00:00Z', noon],
    ['+10000-01-01T00:00:00Z', 253402300800000000],
    ['-0001-12-31T00:00:00Z', -62167305600000000],
  ]
  for (const [text, expected] of forms) t.equal(parseTimestamp(text), expected, text)
})

t.test('case 53: everything else cannot be read', async (t) => {
  const bad = [
    '',
    'not a date',
    '2024',
    '20240501',
    '2024-05',
    '2024-13-01',
    '2024-02-30',
    '2023-02-29T00:00:00Z',
    '2024-05-01T',
    '2024-05-01T24:00:00Z',
    '2024-05-01T12:60:00Z',
    '2024-05-01T12:00:61Z',
    '2024-05-01T12:00:00.Z0',
    '2024-05-01T12:00:00+24:00',
    '2024-05-01T12:00:00+1',
    '2024-05-01T12:00:00Zulu',
    '2024-05-01T1a:00:00Z',
    '2024-0x-01T12:00:00Z',
    '5/1/2024 13:00 PM',
    '1/5/24',
    'Wed, 1 Foo 2024 12:00:00 +0000',
    '-1714564800',
    '\u0662\u0660\u0662\u0664-05-01',
    `2024-05-01T12:00:00.${'1'.repeat(60)}Zx`,
  ]
  for (const text of bad) t.equal(parseTimestamp(text), null, JSON.stringify(text))
})

t.test('never throws, whatever the text', async (t) => {
  const nearly = fc.string({ unit: fc.constantFrom(...'0123456789-+:/TZ. ,AMP'), maxLength: 40 })
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string({ unit: 'binary' })), (text) => {
      const micros = parseTimestamp(text)
      return micros === null || Number.isFinite(micros)
    }),
    { numRuns: 5000 },
  )
  t.pass('5000 texts')
})

t.test('reads a timestamp from the middle of other bytes', async (t) => {
  const bytes = new Uint8Array(Buffer.from('"timestamp":"2024-05-01T12:00:00.5Z","1'))
  t.equal(parseTimestampBytes(bytes, 13, 35), 1714564800500000)
  t.equal(parseTimestampBytes(bytes, 13, 23), 1714521600000000)
})

t.test('case 56: sent_at must be ISO 8601 with a zone', async (t) => {
  t.equal(parseSentAt('2024-05-01T12:00:00.123456+00:00'), 1714564800123)
  t.equal(parseSentAt('2024-05-01T12:00:00.123Z'), 1714564800123)
  t.equal(parseSentAt('2024-05-01T14:00:00+02'), 1714564800000)
  for (const text of [
    '',
    '2024-05-01',
    '2024-05-01T12:00:00',
    '1714564800000',
    '2024-05-01T25:00:00Z',
    'now',
  ])
    t.equal(parseSentAt(text), null, text)
})
