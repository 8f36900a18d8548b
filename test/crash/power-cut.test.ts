import t from 'tap'
import { diskImageProblem } from '../../bench/disk-image.ts'
import { powerCut } from '../../bench/power-cut.ts'
import { checkPromises, rowOf } from './kept-promises.ts'

t.setTimeout(280_000)

t.test('power cuts lose nothing', { skip: diskImageProblem() ?? false }, async (t) => {
  const outcome = await checkPromises(t, powerCut, { cycles: '3', 'judge-every': '3', seed: '3' })
  t.equal(rowOf(outcome, 'lost'), '0')
  t.equal(rowOf(outcome, 'lost by the control'), '0')
  t.equal(rowOf(outcome, 'power cuts'), '3')
})
