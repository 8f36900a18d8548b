import t from 'tap'
import { peak } from '../../bench/peak.ts'
import { hasWrk } from '../../bench/wrk.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(180_000)

const skip = hasWrk() ? false : 'wrk is not installed'

t.test('wrk and our own generator load one server in turn, and both are verified', { skip }, async (t) => {
  const outcome = await checkPromises(t, peak, { rounds: '1', seconds: '1', cores: 'none' })
  t.match(rowOf(outcome, 'requests/s, wrk'), /^[1-9]\d+ /)
  t.match(rowOf(outcome, 'wrk of ours'), /^\d+\.\d\d \(/)
  t.match(rowOf(outcome, 'verified'), /^[1-9]\d+ events of ours, contents of 256$/)
})
