import t from 'tap'
import type { Positions } from '../src/consumer/offset.ts'
import type { Lane, Position } from '../src/journal/journal.ts'
import { releaseApplied } from '../src/retention.ts'

const at = (realtime: number, historical: number): Positions => ({
  realtime: realtime as Position, // positions of no real journal
  historical: historical as Position,
})

t.test('the journal forgets what both readers are done with, each lane by itself', async (t) => {
  let checkpointed: Positions | null = null
  let applied = at(0, 0)
  const listeners: (() => void)[] = []
  const releases: [Lane, number][] = []
  releaseApplied(
    { release: (lane, position) => releases.push([lane, position]) },
    {
      // Nothing but the checkpoint is looked at.
      state: () => ({
        isReady: true,
        reason: null,
        applied: at(999, 999),
        checkpointed,
        lagBytes: at(0, 0),
        counts: { events: 0, duplicates: 0, quarantined: 0 },
        lastTransaction: null,
      }),
      onCheckpoint: (listener) => listeners.push(() => listener(at(0, 0))),
    },
    {
      state: () => ({
        reason: null,
        quarantined: 0,
        spiking: 0,
        lastTransaction: null,
        applied,
        changes: null,
        lagBytes: at(0, 0),
      }),
      onApplied: (listener) => listeners.push(() => listener(at(0, 0))),
    },
  )
  const [onCheckpoint, onApplied] = listeners
  applied = at(80, 40)
  onApplied?.()
  t.same(releases, [], 'nothing before the first checkpoint')
  checkpointed = at(48, 64)
  onCheckpoint?.()
  t.same(releases.splice(0), [
    ['realtime', 48],
    ['historical', 40],
  ])
  applied = at(96, 56)
  onApplied?.()
  t.same(releases.splice(0), [['historical', 56]])
  onApplied?.()
  t.same(releases, [], 'nothing new')
})
