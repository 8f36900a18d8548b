import t from 'tap'
import { CommitPace } from '../../src/journal/commit-pace.ts'

t.test('begins a commit at once after a pause, and 0.3 ms after the one before otherwise', async (t) => {
  let nowMs = 1000
  const slept: number[] = []
  const pace = new CommitPace({ monotonicMs: () => nowMs }, (ms) => {
    slept.push(ms)
    nowMs += ms
  })
  const commitAfter = (ms: number): number => {
    nowMs += ms
    slept.length = 0
    pace.wait()
    pace.began()
    t.ok(slept.length <= 1)
    return Math.round((slept[0] ?? 0) * 1000)
  }
  t.same(
    [commitAfter(0), commitAfter(0), commitAfter(0.1), commitAfter(0.3), commitAfter(50)],
    [0, 300, 200, 0, 0],
  )
  t.same([commitAfter(0.28), commitAfter(0.26)], [0, 40], 'what a sleep could not meet is not slept')
})
