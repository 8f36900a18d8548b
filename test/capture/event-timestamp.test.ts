import t from 'tap'
import { eventTimestamp, type TimeFacts } from '../../src/capture/event-timestamp.ts'
import { parseSentAt, parseTimestamp } from '../../src/capture/timestamp.ts'

const nowMs = Date.parse('2024-05-01T12:00:00Z')
const hourMs = 3_600_000

interface Said extends Partial<TimeFacts> {
  readonly text?: string
  readonly sentAt?: string
}

/** The settled timestamp and what is remarked about it. */
function settled({ text, sentAt, ...more }: Said): string {
  const { micros, remark } = eventTimestamp({
    timestamp: text === undefined ? null : parseTimestamp(text),
    hasTimestamp: text !== undefined,
    offsetMs: null,
    sentAtMs: sentAt === undefined ? null : parseSentAt(sentAt),
    ignoreSentAt: false,
    historical: false,
    nowMs,
    ...more,
  })
  const time = new Date(micros / 1000).toISOString()
  return remark === null ? time : `${time} ${remark}`
}

t.test("cases 49, 50: the error of the sender's clock is taken off", async (t) => {
  const text = '2024-05-01T11:00:00Z'
  t.equal(settled({ text, sentAt: '2024-05-01T12:00:10Z' }), '2024-05-01T10:59:50.000Z')
  t.equal(settled({ text, sentAt: '2024-05-01T11:59:50Z' }), '2024-05-01T11:00:10.000Z')
  t.equal(settled({ text, sentAt: '2024-05-01T12:00:00Z' }), '2024-05-01T11:00:00.000Z')
  t.equal(settled({ text }), '2024-05-01T11:00:00.000Z')
})

t.test('case 51: unless the event says to ignore it', async (t) => {
  const said = { text: '2024-05-01T11:00:00Z', sentAt: '2024-05-01T12:00:10Z', ignoreSentAt: true }
  t.equal(settled(said), '2024-05-01T11:00:00.000Z')
})

t.test('case 52: no timestamp means now', async (t) => {
  t.equal(settled({ sentAt: '2024-05-01T12:00:10Z' }), '2024-05-01T12:00:00.000Z')
})

t.test('case 53: a timestamp that cannot be read means now', async (t) => {
  t.equal(settled({ text: 'not a date' }), '2024-05-01T12:00:00.000Z timestamp_unparseable')
})

t.test('case 54: an offset outranks everything', async (t) => {
  t.equal(settled({ offsetMs: 5000 }), '2024-05-01T11:59:55.000Z')
  const said = { text: '2024-05-01T11:00:00Z', sentAt: '2024-05-01T12:00:10Z', offsetMs: 5000 }
  t.equal(settled(said), '2024-05-01T11:59:55.000Z')
})

t.test('case 57: a time without zone is UTC', async (t) => {
  t.equal(settled({ text: '2023-01-01T12:00:00' }), '2023-01-01T12:00:00.000Z')
})

t.test('case 58: a year that no column holds means the epoch', async (t) => {
  t.equal(settled({ text: '+10000-01-01T00:00:00Z' }), '1970-01-01T00:00:00.000Z timestamp_unparseable')
  t.equal(settled({ text: '-0001-12-31T00:00:00Z' }), '1970-01-01T00:00:00.000Z timestamp_unparseable')
  t.equal(settled({ offsetMs: 1e18 }), '1970-01-01T00:00:00.000Z timestamp_unparseable')
  t.equal(settled({ text: '0000-01-01T00:00:00Z' }), '0000-01-01T00:00:00.000Z')
})

t.test('up to 23 hours ahead is believed, more means now', async (t) => {
  t.equal(settled({ text: '2024-05-02T11:00:00Z' }), '2024-05-02T11:00:00.000Z')
  t.equal(settled({ text: '2024-05-02T11:00:00.001Z' }), '2024-05-01T12:00:00.000Z timestamp_in_future')
  t.equal(settled({ offsetMs: -23 * hourMs }), '2024-05-02T11:00:00.000Z')
  t.equal(settled({ offsetMs: -23 * hourMs - 1 }), '2024-05-01T12:00:00.000Z timestamp_in_future')
})

t.test('history keeps its timestamps, and a missing one is remarked', async (t) => {
  const said = { text: '2023-01-01T00:00:00Z', sentAt: '2024-05-01T12:00:10Z', historical: true }
  t.equal(settled(said), '2023-01-01T00:00:00.000Z')
  t.equal(settled({ historical: true }), '2024-05-01T12:00:00.000Z timestamp_missing')
  t.equal(settled({ text: 'x', historical: true }), '2024-05-01T12:00:00.000Z timestamp_unparseable')
})

t.test('microseconds survive', async (t) => {
  const { micros } = eventTimestamp({
    timestamp: parseTimestamp('2024-05-01T11:00:00.123456Z'),
    hasTimestamp: true,
    offsetMs: null,
    sentAtMs: nowMs + 10_000,
    ignoreSentAt: false,
    historical: false,
    nowMs,
  })
  t.equal(micros, 1714561190123456)
})
