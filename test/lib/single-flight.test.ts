import t from 'tap'
import { singleFlight } from '../../src/lib/single-flight.ts'

t.test('calls during a run share one more run after it', async (t) => {
  const runs: (() => void)[] = []
  const fly = singleFlight(() => new Promise<void>((resolve) => runs.push(resolve)))
  const first = fly()
  const second = fly()
  const third = fly()
  t.equal(runs.length, 1, 'nothing overlaps')
  runs[0]!()
  await first
  await new Promise(setImmediate)
  t.equal(runs.length, 2)
  runs[1]!()
  await Promise.all([second, third])
  t.equal(runs.length, 2, 'the two shared a run')
  void fly()
  t.equal(runs.length, 3)
})
