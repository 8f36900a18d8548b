import t from 'tap'
import { awayOf, examineMachine, fastestOf, speedShare } from '../../bench/machine-speed.ts'

const moment = (computeMs: number, memoryMs: number, count: number, longestMs: number) => ({
  work: { computeMs, memoryMs },
  away: { count, longestMs },
})

t.test('speed is a share of the fastest, over both halves of the work, before and after', async (t) => {
  const fastest = { computeMs: 10, memoryMs: 20 }
  const speed = (computeMs: number, memoryMs: number): number =>
    speedShare({ before: moment(10, 20, 0, 0), after: moment(computeMs, memoryMs, 0, 0) }, fastest)
  t.equal(speed(10, 20), 1)
  t.equal(speed(20, 40), 0.75)
  t.equal(speed(10, 40), 0.875)
})

t.test('the fastest is the least of each half', async (t) => {
  const works = [
    { computeMs: 3, memoryMs: 5 },
    { computeMs: 4, memoryMs: 2 },
  ]
  t.same(fastestOf(works), { computeMs: 3, memoryMs: 2 })
  t.equal(fastestOf([]), null)
})

t.test('gaps are counted before and after', async (t) => {
  const away = awayOf({ before: moment(1, 1, 2, 7), after: moment(1, 1, 3, 5) })
  t.same(away, { count: 5, longestMs: 7 })
})

t.test('a process of its own does the work, and looks at the clock', async (t) => {
  const found = await examineMachine(null)
  t.ok(found !== null && found.work.computeMs > 1 && found.work.memoryMs > 1)
  t.ok(found !== null && found.away.longestMs < 1000)
  t.equal(await examineMachine(4096), null, 'there is no such core')
})
