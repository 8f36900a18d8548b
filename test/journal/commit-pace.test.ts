import t from 'tap'
import { CommitPace } from '../../src/journal/commit-pace.ts'

/** A pace, and what commits that come so many ms after the one before sleep, in µs; sleeps end `late` ms too late. */
function createCommits() {
  let nowMs = 1000
  const slept: number[] = []
  const world = { late: 0, commitAfter }
  const pace = new CommitPace({ monotonicMs: () => nowMs }, (ms) => {
    slept.push(ms)
    nowMs += ms + world.late
  })
  function commitAfter(ms: number): number {
    nowMs += ms
    slept.length = 0
    pace.wait()
    pace.began()
    t.ok(slept.length <= 1)
    return Math.round((slept[0] ?? 0) * 1000)
  }
  return world
}

t.test('begins a commit at once after a pause, and 0.3 ms after the one before otherwise', async (t) => {
  const { commitAfter } = createCommits()
  t.same(
    [commitAfter(0), commitAfter(0), commitAfter(0.1), commitAfter(0.3), commitAfter(50)],
    [0, 300, 200, 0, 0],
  )
  t.same([commitAfter(0.28), commitAfter(0.26)], [0, 40], 'what a sleep could not meet is not slept')
})

t.test('sleeps no more for a while when a sleep had to wait for the core', async (t) => {
  const world = createCommits()
  const { commitAfter } = world
  world.late = 0.9
  t.same([commitAfter(0), commitAfter(0), commitAfter(0)], [0, 300, 300])
  world.late = 3
  t.same([commitAfter(0), commitAfter(0), commitAfter(0.1), commitAfter(99)], [300, 0, 0, 0])
  t.same([commitAfter(1), commitAfter(0), commitAfter(0)], [0, 300, 0], 'then it tries again')
})
