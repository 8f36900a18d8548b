import t from 'tap'
import { Tally } from '../../src/identity/tally.ts'
import { nowMs } from './captured.ts'

t.test('counts billable and historical events by project and UTC day', async (t) => {
  const tally = new Tally()
  const midnight = Date.UTC(2024, 4, 2)
  tally.addUsage(1, midnight - 1, false, 3)
  tally.addUsage(1, midnight - 2, true, 5)
  tally.addUsage(1, midnight, false, 7)
  tally.addUsage(2, midnight, false, 11)
  tally.addUsage(3, midnight, false, 13)
  tally.forget(3)
  t.same(tally.usage(), [
    { projectId: 1, day: '2024-05-01', billable: 3, historical: 5 },
    { projectId: 1, day: '2024-05-02', billable: 7, historical: 0 },
    { projectId: 2, day: '2024-05-02', billable: 11, historical: 0 },
  ])
})

t.test('counts warnings by reason and shows the last one, cut short', async (t) => {
  const tally = new Tally()
  const about = { projectId: 1, event: '$identify' }
  tally.warn('cannot_merge_already_identified', 'first', { ...about, receivedAtMs: nowMs, distinctId: 'a' })
  const long = `${'x'.repeat(199)}😀`
  tally.warn('cannot_merge_already_identified', long, { ...about, receivedAtMs: nowMs - 5, distinctId: 'b' })
  t.same(tally.warnings(), [
    {
      projectId: 1,
      reason: 'cannot_merge_already_identified',
      count: 2,
      firstSeenMs: nowMs - 5,
      lastSeenMs: nowMs,
      sample: { event: '$identify', distinctId: 'b', detail: `${'x'.repeat(199)}\ufffd` },
    },
  ])
})
