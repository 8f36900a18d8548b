import t from 'tap'
import { outage } from '../../bench/outage.ts'
import { checkPromises, rowOf } from './kept-promises.ts'

t.setTimeout(280_000)

t.test(
  'without Postgres events are captured and readable, and persons catch up when it is back',
  async (t) => {
    const outcome = await checkPromises(t, outage, { minutes: '0.07', rate: '25', seed: '4' })
    t.equal(rowOf(outcome, 'lost'), '0')
    t.equal(rowOf(outcome, 'doubled'), '0')
    t.equal(rowOf(outcome, 'facts of persons'), '0 missing, 0 uninvited, 0 wrong')
    t.match(
      rowOf(outcome, 'lag of the persons when Postgres came back'),
      /^\d.*[KM]iB$/,
      'persons had to catch up',
    )
    t.match(rowOf(outcome, 'acknowledged'), /^\d{3,} events/)
  },
)
