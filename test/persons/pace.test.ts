import t from 'tap'
import { Pace } from '../../src/persons/pace.ts'

t.test('takes more while full steps are fast, and less when they are slow', async (t) => {
  const pace = new Pace()
  const first = pace.eventsMax
  pace.applied(10, 1)
  t.equal(pace.eventsMax, first)
  pace.applied(first, 30)
  t.equal(pace.eventsMax, first * 2)
  for (let i = 0; i < 20; i++) pace.applied(pace.eventsMax, 1)
  t.equal(pace.eventsMax, 50_000)
  pace.applied(1000, 450)
  t.equal(pace.eventsMax, 33_333)
  for (let i = 0; i < 20; i++) pace.applied(pace.eventsMax, 9000)
  t.equal(pace.eventsMax, 1000)
})

t.test('halves what was too large down to one event, and grows again from there', async (t) => {
  const pace = new Pace()
  pace.tooLarge(100)
  t.equal(pace.eventsMax, 50)
  for (let i = 0; i < 10; i++) pace.tooLarge(pace.eventsMax)
  t.equal(pace.eventsMax, 1)
  pace.applied(1, 1)
  t.equal(pace.eventsMax, 2)
})
