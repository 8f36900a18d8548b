import t from 'tap'
import { forLanes, originOffset } from '../../src/consumer/offset.ts'
import type { JournalReader, Lane } from '../../src/journal/journal.ts'
import { gather, turnsOf } from '../../src/persons/gather.ts'
import { Spikes } from '../../src/persons/spikes.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import { appendEvents } from './world.ts'

const start = forLanes(() => originOffset)

/** Two lanes of 40 records of 10 events, 80 KiB each. */
async function backlog() {
  const journal = new MemoryJournal()
  const text = 'x'.repeat(8 * 1024)
  for (let record = 0; record < 80; record++) {
    const lane: Lane = record % 2 === 0 ? 'realtime' : 'historical'
    const events = Array.from({ length: 10 }, (_, i) => ({
      event: 'e',
      distinct_id: `${record} ${i}`,
      properties: { text },
    }))
    await appendEvents(journal, events, lane)
  }
  const inner = journal.reader()
  const read = { bytes: 0 }
  const reader: JournalReader = {
    ...inner,
    read(...args) {
      const chunk = inner.read(...args)
      for (const { payload } of chunk.records) read.bytes += payload.byteLength
      return chunk
    },
  }
  const { lanes } = journal.state()
  return { reader, read, committed: forLanes((lane) => lanes[lane].committed) }
}

t.test('takes realtime first, leaves a quarter to history, and knows the last record of each', async (t) => {
  const { reader, committed } = await backlog()
  const gathered = gather(reader, start, committed, turnsOf(100, start, committed), new Spikes(0))
  t.same([gathered.laneEvents, gathered.events], [{ realtime: 75, historical: 25 }, 100])
  t.same(
    gathered.to,
    forLanes((lane) => ({ position: gathered.last[lane]?.position, index: 5 })),
  )
})

t.test('reads about as much of the journal as its events take, not all that a step may hold', async (t) => {
  const { reader, read, committed } = await backlog()
  const { events } = gather(reader, start, committed, turnsOf(20, start, committed), new Spikes(0))
  t.equal(events, 20)
  t.ok(read.bytes < 1024 * 1024, `${read.bytes} bytes for 160 KiB of events, with 6.5 MiB waiting`)
})
