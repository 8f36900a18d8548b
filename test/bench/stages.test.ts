import t from 'tap'
import { eventStages, measureStages } from '../../bench/stage-figures.ts'
import { stageInput } from '../../bench/stage-input.ts'

t.test('every stage does the work of all events', async (t) => {
  const input = stageInput(5, 1)
  t.equal(input.eventCount, 1000)
  t.equal(
    input.batches.reduce((sum, { header }) => sum + header.count, 0),
    1000,
  )
  const figures = await measureStages(input, 1, t.testdir())
  t.same(
    figures.slice(0, eventStages.length).map(({ name }) => name),
    eventStages,
  )
  for (const { name, micros } of figures.filter(({ name }) => name !== 'normalise'))
    t.ok(micros.median > 0, name)
})
