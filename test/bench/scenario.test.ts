import t from 'tap'
import { describeTimes, integerOption, quantile } from '../../bench/scenario.ts'

t.test('a quantile is a sample that was taken', async (t) => {
  const samples = [5, 1, 4, 2, 3]
  t.equal(quantile(samples, 0.5), 3)
  t.equal(quantile(samples, 0.99), 5)
  t.equal(quantile(samples, 1), 5)
  t.equal(quantile([7], 0.5), 7)
  t.equal(describeTimes([1.25, 812, 30.4]), 'p50 30, p99 812, max 812 ms (3 samples)')
  t.equal(describeTimes([]), 'none')
})

t.test('an option that is no integer is refused with its name', async (t) => {
  t.equal(integerOption({ cycles: '20' }, 'cycles'), 20)
  t.throws(() => integerOption({ cycles: 'many' }, 'cycles'), {
    message: '--cycles is "many", expected an integer',
  })
})
