import t from 'tap'
import { type EventBatch, openEventBatch } from '../../src/capture/event-batch.ts'
import { bornIdOf } from '../../src/identity/born-id.ts'
import { Spikes } from '../../src/persons/spikes.ts'
import { type BatchInput, makeBatch } from '../events/make-batch.ts'

const noonMs = 1_714_564_800_000

/** `count` events of one id. */
function batchOf(distinctId: string, count: number, more: Partial<BatchInput> = {}): EventBatch {
  const bornId = bornIdOf(more.projectId ?? 1, distinctId)
  const rows = Array.from({ length: count }, (_, n) => ({ bornId, distinctId, event: `event ${n}` }))
  return openEventBatch(makeBatch({ receivedAtMs: noonMs, ...more, rows }))
}

function countAll(spikes: Spikes, batch: EventBatch): void {
  spikes.count(batch, null, 0, batch.header.count)
}

t.test('a thousand events at once are no spike, one more is', async (t) => {
  const spikes = new Spikes(100)
  countAll(spikes, batchOf('anna', 1000))
  countAll(spikes, batchOf('bert', 1000))
  countAll(spikes, batchOf('anna', 1000, { projectId: 2 }))
  t.same(spikes.take(), [])
  countAll(spikes, batchOf('anna', 3, { receivedAtMs: noonMs + 1 }))
  t.same(spikes.take(), [
    {
      projectId: 1,
      reason: 'spike',
      count: 3,
      firstSeenMs: noonMs + 1,
      lastSeenMs: noonMs + 1,
      sample: {
        event: 'event 2',
        distinctId: 'anna',
        detail: 'more than 100 events a second of one distinct_id',
      },
    },
  ])
  t.same(spikes.take(), [])
})

t.test('as many a second as are allowed may go on for ever; more are counted', async (t) => {
  const spikes = new Spikes(100)
  countAll(spikes, batchOf('anna', 1000))
  for (let second = 1; second <= 60; second++)
    countAll(spikes, batchOf('anna', 100, { receivedAtMs: noonMs + second * 1000 }))
  t.same(spikes.take(), [])
  for (let second = 61; second <= 70; second++)
    countAll(spikes, batchOf('anna', 101, { receivedAtMs: noonMs + second * 1000 }))
  t.match(spikes.take(), [{ count: 10, firstSeenMs: noonMs + 61_000, lastSeenMs: noonMs + 70_000 }])
  // Ten seconds later the bucket is full again; a clock that goes back fills nothing.
  countAll(spikes, batchOf('anna', 1000, { receivedAtMs: noonMs + 80_000 }))
  t.same(spikes.take(), [])
  countAll(spikes, batchOf('anna', 1, { receivedAtMs: noonMs }))
  t.match(spikes.take(), [{ count: 1 }])
})

t.test(
  'retries, history and other events of the batch do not count, nor does anything at the rate 0',
  async (t) => {
    const spikes = new Spikes(100)
    const batch = batchOf('anna', 1600)
    const duplicates = new Uint8Array(200).fill(0xff, 0, 100)
    spikes.count(batch, duplicates, 0, 1600)
    countAll(spikes, batchOf('anna', 5000, { historical: true }))
    spikes.count(batch, null, 0, 200)
    t.same(spikes.take(), [])
    spikes.count(batch, null, 1598, 1600)
    t.match(spikes.take(), [{ count: 2, sample: { event: 'event 1599' } }])
    const never = new Spikes(0)
    countAll(never, batchOf('anna', 5000))
    t.same(never.take(), [])
  },
)

t.test('allows a second’s worth at once where that is more than a thousand', async (t) => {
  const spikes = new Spikes(3000)
  countAll(spikes, batchOf('anna', 3001))
  t.match(spikes.take(), [{ count: 1 }])
})

t.test('a flood of other ids does not hide the spike among them', async (t) => {
  const spikes = new Spikes(100)
  countAll(spikes, batchOf('anna', 1000))
  for (let part = 0; part < 20; part++) {
    const rows = Array.from({ length: 10_000 }, (_, n) => ({ bornId: bornIdOf(1, `${part} ${n}`) }))
    countAll(spikes, openEventBatch(makeBatch({ receivedAtMs: noonMs, rows })))
  }
  t.same(spikes.take(), [])
  countAll(spikes, batchOf('anna', 5))
  t.match(spikes.take(), [{ count: 5 }])
})

t.test('begins anew when it is cleared', async (t) => {
  const spikes = new Spikes(100)
  countAll(spikes, batchOf('anna', 1001))
  spikes.clear()
  countAll(spikes, batchOf('anna', 1000))
  t.same(spikes.take(), [])
  countAll(spikes, batchOf('anna', 1))
  t.match(spikes.take(), [{ count: 1 }])
})
