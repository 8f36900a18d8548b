import t from 'tap'
import { bulk } from '../../bench/bulk.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(120_000)

t.test('a bulk import does not hold up single events', async (t) => {
  const outcome = await checkPromises(t, bulk, { bodies: '1', shape: 'smallBulk' })
  t.match(rowOf(outcome, 'answers to bulk bodies'), /^200 after/)
  t.match(rowOf(outcome, 'acknowledged'), /^3\d{4} events/)
})
