import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { type BackfillOptions, type GivenRange, readBackfillRange } from '../../src/exports/backfill-range.ts'

const options: BackfillOptions = {
  interval: 'hour',
  timeZone: 'UTC',
  canBeEndless: false,
  nowMs: Date.parse('2024-05-01T12:00:00Z'),
  earliestMs: Date.parse('2021-01-01T00:30:00Z'),
}

function range(start: unknown, end: unknown, change: Partial<BackfillOptions> = {}): string {
  try {
    const given: GivenRange = { start_at: start, end_at: end }
    const { startMs, endMs } = readBackfillRange(given, { ...options, ...change })
    const iso = (ms: number | null) => (ms === null ? 'null' : new Date(ms).toISOString())
    return `${iso(startMs)} ${iso(endMs)}`
  } catch (error) {
    if (isServiceError(error, 'invalid_input') && error.attr === null) return error.detail
    throw error
  }
}

t.test('reads moments with a zone, however ISO 8601 writes them', async (t) => {
  const expected = '2022-01-01T00:00:00.000Z 2022-01-02T00:00:00.000Z'
  t.equal(range('2022-01-01T00:00:00Z', '2022-01-02T00:00:00+00:00'), expected)
  t.equal(range('2022-01-01T02:00+02:00', '2022-01-01 19:00:00-0500'), expected)
  t.equal(range('2022-01-01T00:00:00.000000z', '2022-01-02T01+01'), expected)
})

t.test('refuses what is no moment, and what has no zone', async (t) => {
  t.equal(range('not a date', null), 'Input not a date is not a valid ISO formatted datetime.')
  t.equal(
    range('2022-13-01T00:00:00Z', null),
    'Input 2022-13-01T00:00:00Z is not a valid ISO formatted datetime.',
  )
  t.equal(range(5, null), 'Input 5 is not a valid ISO formatted datetime.')
  t.equal(range('2022-01-01T00:00:00', null), 'Input 2022-01-01T00:00:00 is naive.')
  t.equal(range('2022-01-01', null), 'Input 2022-01-01 is naive.')
})

t.test('refuses ranges that are empty, ahead of time or before everything', async (t) => {
  const order = "The initial backfill datetime 'start_at' happens after 'end_at'"
  t.equal(range('2022-01-01T00:00:00Z', '2022-01-01T00:00:00Z'), order)
  t.equal(range('2022-01-01T00:00:01Z', '2022-01-01T00:00:00Z'), order)
  t.equal(range(null, '2024-05-01T13:00:00Z'), 'null 2024-05-01T13:00:00.000Z', 'one interval ahead')
  t.equal(
    range(null, '2024-05-01T13:00:01Z'),
    "The provided 'end_at' (2024-05-01T13:00:01Z) is too far into the future. " +
      'Cannot backfill beyond 2024-05-01T13:00:00Z',
  )
  t.equal(
    range('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z'),
    'The provided backfill date range contains no data. ' +
      'The earliest possible backfill start date is 2021-01-01T00:00:00Z',
  )
  t.equal(
    range('2020-01-01T00:00:00Z', '2021-01-01T01:00:00Z'),
    '2021-01-01T00:00:00.000Z 2021-01-01T01:00:00.000Z',
  )
  t.equal(
    range('2022-01-01T00:00:00Z', '2022-01-02T00:00:00Z', { earliestMs: null }),
    'There is no data to backfill for this model.',
  )
})

t.test('only some destinations are filled without end', async (t) => {
  t.equal(range('2022-01-01T00:00:00Z', null), 'Backfilling a BatchExport with no end date is not allowed')
  t.equal(range('2022-01-01T00:00:00Z', null, { canBeEndless: true }), '2022-01-01T00:00:00.000Z null')
  t.equal(range(undefined, undefined, { canBeEndless: true }), 'null null')
})
