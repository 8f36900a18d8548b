import t from 'tap'
import { problemsOf } from '../src/problems.ts'

const lane = { isFull: false, damagedBytes: 0 }
const well = { reason: null, isReady: true }

/** Rooms whose states have these parts; nothing else is looked at. */
function rooms(
  journal: object,
  database: string | null,
  events: object,
  persons: object,
  exports: string | null = null,
): Parameters<typeof problemsOf>[0] {
  const states = { lanes: { realtime: { ...lane, ...journal }, historical: lane } }
  const made: object = {
    journal: { state: () => states },
    database: { problem: () => database },
    events: { state: () => ({ ...well, ...events }) },
    persons: { state: () => ({ reason: null, ...persons }) },
    mirror: { state: () => ({ reason: null }) },
    exports: { state: () => ({ reason: exports }) },
  }
  return made as Parameters<typeof problemsOf>[0] // the parts that are read
}

t.test('finds nothing wrong with a server that is well', async (t) => {
  t.strictSame(problemsOf(rooms({}, null, {}, {})), [])
})

t.test('only a disk without room stops capture', async (t) => {
  const problems = problemsOf(
    rooms({ isFull: true, damagedBytes: 7 }, null, { isReady: false }, { reason: 'late' }, 'stuck'),
  )
  t.match(problems, [
    { component: 'journal realtime', stopsCapture: true },
    { component: 'journal realtime', reason: '7 bytes found damaged and set aside', stopsCapture: false },
    { component: 'events', reason: 'the store is still opening', stopsCapture: false },
    { component: 'persons', reason: 'late', stopsCapture: false },
    { component: 'exports', reason: 'stuck', stopsCapture: false },
  ])
})

t.test('says once that Postgres is away', async (t) => {
  const problems = problemsOf(rooms({}, 'not reachable', {}, { reason: 'no database' }, 'no database'))
  t.strictSame(problems, [{ component: 'postgres', reason: 'not reachable', stopsCapture: false }])
})
