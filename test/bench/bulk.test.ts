import t from 'tap'
import { bulk } from '../../bench/bulk.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(280_000)

t.test('a bulk import does not hold up single events', async (t) => {
  const options = { bodies: '1', shape: 'smallBulk' }
  const outcome = await checkPromises(t, bulk, options)
  // None would, if they waited for the body.
  t.match(rowOf(outcome, 'singles that overtook a body'), /^\d{2,}$/)
  t.match(rowOf(outcome, 'answers to bulk bodies'), /^200 after/)
  t.match(rowOf(outcome, 'acknowledged'), /^3\d{4} events/)
})
