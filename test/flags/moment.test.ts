import t from 'tap'
import { comparesMoments } from '../../src/flags/moment.ts'

/** The moment, as ISO text, that a filter means at `now`; null when it means none. */
function meant(filter: string, now: string): string | null {
  let limit: number | null = null
  const test = comparesMoments(filter, (_, filterMs) => {
    limit = filterMs
    return true
  })
  test(0, Date.parse(now))
  return limit === null ? null : new Date(limit).toISOString()
}

t.test('a distance leads into the past (C18)', async (t) => {
  const now = '2020-01-01T12:01:20Z'
  t.equal(meant('24h', now), '2019-12-31T12:01:20.000Z')
  t.equal(meant('-1d', now), '2019-12-31T12:01:20.000Z')
  t.equal(meant('1w', now), '2019-12-25T12:01:20.000Z')
  t.equal(meant('-1m', now), '2019-12-01T12:01:20.000Z')
  t.equal(meant('8m', now), '2019-05-01T12:01:20.000Z')
  t.equal(meant('1y', now), '2019-01-01T12:01:20.000Z')
  t.equal(meant('4m', '2020-04-03T00:00:00Z'), '2019-12-03T00:00:00.000Z')
})

t.test('the day is the last one of a shorter month', async (t) => {
  t.equal(meant('1m', '2023-03-31T06:00:00Z'), '2023-02-28T06:00:00.000Z')
  t.equal(meant('1m', '2024-03-31T06:00:00Z'), '2024-02-29T06:00:00.000Z')
  t.equal(meant('4y', '2024-02-29T06:00:00Z'), '2020-02-29T06:00:00.000Z')
  t.equal(meant('1y', '2024-02-29T06:00:00Z'), '2023-02-28T06:00:00.000Z')
})

t.test('what only looks like a distance is none (C19)', async (t) => {
  for (const text of ['1.2y', '1x', 'bazinga', '100000d', '10000d', 'd', '-d', '1 d', '1D']) {
    t.equal(meant(text, '2020-01-01T00:00:00Z'), null, text)
  }
  t.equal(meant('9999h', '2020-01-01T00:00:00Z'), '2018-11-10T09:00:00.000Z')
})

t.test('a moment may be written in many ways', async (t) => {
  const now = '2020-01-01T00:00:00Z'
  t.equal(meant('2022-05-01', now), '2022-05-01T00:00:00.000Z')
  t.equal(meant('2022-05-01T10:00:00+02:00', now), '2022-05-01T08:00:00.000Z')
  t.equal(meant('2022-05-01 10:00:00 +02:00', now), '2022-05-01T08:00:00.000Z')
  t.equal(meant(' 2022-05-01 10:00 ', now), '2022-05-01T10:00:00.000Z')
})

t.test('a number is Unix seconds, as text too', async (t) => {
  const before = comparesMoments('2022-05-01', (value, limit) => value < limit)
  t.ok(before(1_651_363_199, 0))
  t.ok(before('1651363199.5', 0))
  t.notOk(before(1_651_363_200, 0))
  t.notOk(before('1651363200', 0))
  t.notOk(before('1651363199000', 0), 'milliseconds are far in the future')
  const after = comparesMoments('2022-05-01', (value, limit) => value > limit)
  t.ok(after(8.64e12, 0))
  for (const value of [8.65e12, 1e300, -1e300, `1${'0'.repeat(400)}`]) {
    t.notOk(after(value, 0) || before(value, 0), String(value).slice(0, 9))
  }
})
