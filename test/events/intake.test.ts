import t from 'tap'
import { Intake } from '../../src/events/intake.ts'

t.test('events come in while a large step is on its way, and for five seconds after', async (t) => {
  const now = { ms: 0 }
  const intake = new Intake({ monotonicMs: () => now.ms })
  t.equal(intake.isLarge || intake.isExpected, false)
  await intake.during(256 * 1024 - 1, async () => t.equal(intake.isLarge, false))
  t.equal(intake.isLarge, false)
  await intake.during(256 * 1024, async () => {
    now.ms += 60_000
    t.equal(intake.isLarge, true)
  })
  now.ms += 4_999
  t.equal(intake.isLarge, true)
  now.ms += 1
  t.equal(intake.isLarge, false)
  t.equal(intake.isExpected, true)
  now.ms += 55_000
  t.equal(intake.isExpected, false)
  await t.rejects(intake.during(1e9, () => Promise.reject(new Error('disk full'))))
  t.equal(intake.isLarge, true)
})
