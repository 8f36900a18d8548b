import t from 'tap'
import {
  boundaryAfter,
  boundaryBefore,
  countWithin,
  dueSpans,
  intervalMs,
  wholeSpans,
} from '../../src/exports/interval.ts'

const at = (iso: string): number => Date.parse(iso)
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

t.test('intervals have their lengths', async (t) => {
  t.equal(intervalMs('every 5 minutes'), 300_000)
  t.equal(intervalMs('hour'), 3_600_000)
  t.equal(intervalMs('day'), 86_400_000)
  t.equal(intervalMs('week'), 604_800_000)
})

t.test('every interval has the moment it begins with and not the one it ends with', async (t) => {
  const rows = [
    ['every 5 minutes', '2024-05-01T12:04:59.999Z', '2024-05-01T12:00:00Z', '2024-05-01T12:05:00Z'],
    ['every 5 minutes', '2024-05-01T12:05:00Z', '2024-05-01T12:05:00Z', '2024-05-01T12:10:00Z'],
    ['hour', '2024-05-01T12:59:59Z', '2024-05-01T12:00:00Z', '2024-05-01T13:00:00Z'],
    ['day', '2024-05-01T00:00:00Z', '2024-05-01T00:00:00Z', '2024-05-02T00:00:00Z'],
    ['day', '2024-04-30T23:59:59Z', '2024-04-30T00:00:00Z', '2024-05-01T00:00:00Z'],
    ['week', '2024-05-01T12:00:00Z', '2024-04-28T00:00:00Z', '2024-05-05T00:00:00Z'],
    ['week', '2024-04-28T00:00:00Z', '2024-04-28T00:00:00Z', '2024-05-05T00:00:00Z'],
  ] as const
  for (const [interval, moment, start, end] of rows) {
    t.equal(iso(boundaryBefore(interval, 'UTC', at(moment))), start, `${interval} ${moment}`)
    t.equal(iso(boundaryAfter(interval, 'UTC', at(moment))), end, `${interval} ${moment}`)
  }
})

t.test('days follow the clocks of the project', async (t) => {
  const days = (zone: string, moment: string): string[] => {
    const start = boundaryBefore('day', zone, at(moment))
    return [iso(start), iso(boundaryAfter('day', zone, start))]
  }
  // 23 hours: clocks go forward in the night.
  t.strictSame(days('Europe/Berlin', '2024-03-31T12:00:00Z'), [
    '2024-03-30T23:00:00Z',
    '2024-03-31T22:00:00Z',
  ])
  // 25 hours: they go back.
  t.strictSame(days('America/New_York', '2024-11-03T12:00:00Z'), [
    '2024-11-03T04:00:00Z',
    '2024-11-04T05:00:00Z',
  ])
  // A quarter of an hour off.
  t.strictSame(days('Asia/Kathmandu', '2024-05-01T12:00:00Z'), [
    '2024-04-30T18:15:00Z',
    '2024-05-01T18:15:00Z',
  ])
  // Midnight does not exist: clocks go from 00:00 to 01:00.
  t.strictSame(days('Africa/Cairo', '2024-04-26T12:00:00Z'), ['2024-04-25T22:00:00Z', '2024-04-26T21:00:00Z'])
  // Midnight exists twice: clocks go from 01:00 back to 00:00.
  t.strictSame(days('America/Havana', '2024-11-03T12:00:00Z'), [
    '2024-11-03T04:00:00Z',
    '2024-11-04T05:00:00Z',
  ])
})

t.test('a run is due when its interval is over', async (t) => {
  const schedule = { interval: 'hour', timeZone: 'UTC', startAtMs: null, endAtMs: null } as const
  const due = (after: string, now: string): string[] =>
    dueSpans(schedule, at(after), at(now), 10).map(({ startMs, endMs }) => `${iso(startMs)}/${iso(endMs)}`)
  t.strictSame(due('2024-05-01T12:00:00Z', '2024-05-01T12:59:59Z'), [])
  t.strictSame(due('2024-05-01T12:00:00Z', '2024-05-01T13:00:00Z'), [
    '2024-05-01T12:00:00Z/2024-05-01T13:00:00Z',
  ])
  t.strictSame(due('2024-05-01T12:30:00Z', '2024-05-01T14:10:00Z'), [
    '2024-05-01T12:00:00Z/2024-05-01T13:00:00Z',
    '2024-05-01T13:00:00Z/2024-05-01T14:00:00Z',
  ])
  t.equal(dueSpans(schedule, 0, at('2024-05-01T00:00:00Z'), 10).length, 10, 'no more than asked for')
})

t.test('no run is due before start_at or after end_at', async (t) => {
  const ends = (startAt: string | null, endAt: string | null): string[] =>
    dueSpans(
      {
        interval: 'hour',
        timeZone: 'UTC',
        startAtMs: startAt === null ? null : at(startAt),
        endAtMs: endAt === null ? null : at(endAt),
      },
      at('2024-05-01T10:00:00Z'),
      at('2024-05-01T14:00:00Z'),
      10,
    ).map(({ endMs }) => iso(endMs))
  t.strictSame(ends('2024-05-01T12:00:00Z', null), [
    '2024-05-01T12:00:00Z',
    '2024-05-01T13:00:00Z',
    '2024-05-01T14:00:00Z',
  ])
  t.strictSame(ends('2024-05-01T12:00:00.001Z', null), ['2024-05-01T13:00:00Z', '2024-05-01T14:00:00Z'])
  t.strictSame(ends(null, '2024-05-01T12:00:00Z'), ['2024-05-01T11:00:00Z', '2024-05-01T12:00:00Z'])
  t.strictSame(ends(null, '2024-05-01T11:59:59Z'), ['2024-05-01T11:00:00Z'])
  t.strictSame(ends('2024-05-02T00:00:00Z', '2024-05-01T00:00:00Z'), [])
})

t.test('a range touches whole intervals', async (t) => {
  const whole = (start: string, end: string, max = 10): string[] =>
    wholeSpans('day', 'UTC', { startMs: at(start), endMs: at(end) }, max).map(
      ({ startMs, endMs }) => `${iso(startMs)}/${iso(endMs)}`,
    )
  t.strictSame(whole('2024-05-01T06:00:00Z', '2024-05-02T12:00:00Z'), [
    '2024-05-01T00:00:00Z/2024-05-02T00:00:00Z',
    '2024-05-02T00:00:00Z/2024-05-03T00:00:00Z',
  ])
  t.strictSame(whole('2024-05-01T00:00:00Z', '2024-05-01T00:00:00Z'), [])
  t.equal(whole('2024-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 366).length, 366)
})

t.test('counts the intervals of a range without making them', async (t) => {
  const rows = [
    ['every 5 minutes', '2024-05-01T12:01:00Z', '2024-05-01T12:05:00Z', 1],
    ['hour', '2024-05-01T12:00:00Z', '2024-05-01T12:00:00Z', 0],
    ['hour', '2024-05-01T12:00:00Z', '2024-05-01T14:00:00.001Z', 3],
    ['day', '2024-03-30T00:00:00Z', '2024-04-02T00:00:00Z', 4],
    ['week', '2024-05-04T12:00:00Z', '2024-05-05T12:00:00Z', 2],
    ['every 5 minutes', '1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z', 844_569_216],
  ] as const
  for (const [interval, start, end, count] of rows) {
    const span = { startMs: at(start), endMs: at(end) }
    t.equal(countWithin(interval, 'Europe/Berlin', span), count, `${interval} ${start}`)
    if (count < 100) t.equal(wholeSpans(interval, 'Europe/Berlin', span, 100).length, count)
  }
})
