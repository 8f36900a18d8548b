import t from 'tap'
import { crash } from '../../bench/crash.ts'
import { checkPromises, rowOf } from './kept-promises.ts'

t.setTimeout(280_000)

t.test('two dozen kills lose nothing, store nothing twice, and leave persons right', async (t) => {
  const outcome = await checkPromises(t, crash, { cycles: '24', 'judge-every': '24', seed: '20' })
  t.equal(rowOf(outcome, 'lost'), '0')
  t.equal(rowOf(outcome, 'doubled'), '0')
  t.equal(rowOf(outcome, 'named points not reached'), 'none')
  t.match(rowOf(outcome, 'Postgres killed as well'), /^[1-9]/)
  t.match(rowOf(outcome, 'acknowledged'), /^\d{4,} events/, 'the load was worth the name')
  t.equal(rowOf(outcome, 'facts of persons'), '0 missing, 0 uninvited, 0 wrong')
  t.match(rowOf(outcome, 'persons'), /^\d{4,}, \d{3,} ids moved, \d{2,} groups$/, 'persons were merged')
})
