import t from 'tap'
import { bulk } from '../../bench/bulk.ts'
import { checkPromises, rowOf } from '../crash/kept-promises.ts'

t.setTimeout(120_000)

t.test('a bulk import does not hold up single events', async (t) => {
  // Accepting the body takes more than a second; a single event that waited for it would miss this by far.
  const options = { bodies: '1', shape: 'smallBulk', 'single-ms-max': '800' }
  const outcome = await checkPromises(t, bulk, options)
  t.same(outcome.slow, [])
  t.match(rowOf(outcome, 'answers to bulk bodies'), /^200 after/)
  t.match(rowOf(outcome, 'acknowledged'), /^3\d{4} events/)
})
