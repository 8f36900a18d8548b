import t from 'tap'
import { diskFull } from '../../bench/disk-full.ts'
import { diskImageProblem } from '../../bench/disk-image.ts'
import { checkPromises, rowOf } from './kept-promises.ts'

t.setTimeout(280_000)

t.test(
  'a full disk refuses, loses nothing, and is recovered from without a restart',
  { skip: diskImageProblem() ?? false },
  async (t) => {
    const outcome = await checkPromises(t, diskFull, { cycles: '2', seed: '2' })
    t.equal(rowOf(outcome, 'lost'), '0')
    t.equal(rowOf(outcome, 'disk filled'), '2 times')
  },
)
