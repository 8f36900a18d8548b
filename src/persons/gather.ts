// Collects the next stretch of the journal for one step.

import { decodeCommand } from '../consumer/command.ts'
import { type Marks, markOf } from '../consumer/mark.ts'
import { forLanes, type Offset, type Offsets, type Positions } from '../consumer/offset.ts'
import { openRecord } from '../consumer/record-batch.ts'
import type { UnreadInput } from '../identity/operations.ts'
import type { JournalReader, JournalRecord, Lane } from '../journal/journal.ts'
import type { LaneGap } from './persons-store.ts'
import type { Spikes } from './spikes.ts'

/** Journal that a step has in memory, or one record. */
const stepBytesMax = 16 * 1024 * 1024

/**
 * What is read beyond the events of a step is read again for the next. Reading all that a step may hold, each
 * time, made a backlog cost 330 µs of the thread an event while steps were small, in place of 75 (Node 20, a busy
 * machine).
 */
const eventBytesGuess = 2048
const readBytesMin = 256 * 1024

/** A lane is read until the whole step has so many events. */
export interface Turn {
  readonly lane: Lane
  readonly eventsUpTo: number
}

export interface Gathered {
  readonly to: Record<Lane, Offset>
  readonly inputs: UnreadInput[]
  readonly gaps: LaneGap[]
  /** Events and commands taken, whatever became of them. */
  events: number
  readonly laneEvents: Record<Lane, number>
  /** The last record taken of each lane, in part or whole. */
  readonly last: Record<Lane, JournalRecord | null>
  bytes: number
}

/** Realtime first, but history keeps a quarter when it waits; what one lane leaves, the other takes. */
export function turnsOf(eventsMax: number, from: Offsets, committed: Positions): Turn[] {
  const isHistoryWaiting = committed.historical > from.historical.position
  const realtime = isHistoryWaiting ? eventsMax - Math.ceil(eventsMax / 4) : eventsMax
  return [
    { lane: 'realtime', eventsUpTo: realtime },
    { lane: 'historical', eventsUpTo: eventsMax },
    { lane: 'realtime', eventsUpTo: eventsMax },
  ]
}

/** Reads on from `from`, in turn, never past `committed`; `spikes` counts the events. */
export function gather(
  reader: JournalReader,
  from: Offsets,
  committed: Positions,
  turns: readonly Turn[],
  spikes: Spikes,
): Gathered {
  const step: Gathered = {
    to: { ...from },
    inputs: [],
    gaps: [],
    events: 0,
    laneEvents: { realtime: 0, historical: 0 },
    last: { realtime: null, historical: null },
    bytes: 0,
  }
  for (const turn of turns) gatherLane(reader, step, turn, committed, spikes)
  return step
}

export function marksOf({ last }: Gathered): Marks {
  return forLanes((lane) => {
    const record = last[lane]
    return record === null ? null : markOf(record)
  })
}

function gatherLane(
  reader: JournalReader,
  step: Gathered,
  { lane, eventsUpTo }: Turn,
  committed: Positions,
  spikes: Spikes,
): void {
  const eventsBefore = step.events
  while (step.events < eventsUpTo && step.bytes < stepBytesMax && step.to[lane].position < committed[lane]) {
    const from = step.to[lane].position
    const bytesWanted = Math.max(readBytesMin, (eventsUpTo - step.events) * eventBytesGuess)
    const chunk = reader.read(lane, from, committed[lane], Math.min(bytesWanted, stepBytesMax - step.bytes))
    let isWhole = true
    for (const record of chunk.records) {
      isWhole = step.events < eventsUpTo && takeRecord(step, lane, record, eventsUpTo, spikes)
      if (!isWhole) break
    }
    if (isWhole) step.to[lane] = { position: chunk.next, index: 0 }
    const reached = step.to[lane].position
    for (const gap of chunk.gaps) {
      if (gap.position >= from && gap.position < reached) step.gaps.push({ lane, ...gap })
    }
    step.bytes += reached - from
    if (!isWhole) break
  }
  step.laneEvents[lane] += step.events - eventsBefore
}

/** Takes a record from the offset's index on. Returns false when room ran out within it. */
function takeRecord(
  step: Gathered,
  lane: Lane,
  record: JournalRecord,
  eventsUpTo: number,
  spikes: Spikes,
): boolean {
  const { position, index } = step.to[lane]
  const from = position === record.position ? index : 0
  step.last[lane] = record
  if (record.kind === 'command') {
    const { command: kind, ...command } = decodeCommand(record.payload)
    // The fold's inputs have the commands' names and fields.
    step.inputs.push({ kind, ...command } as UnreadInput)
    step.events++
  } else {
    const to = Math.min(record.eventCount, from + eventsUpTo - step.events)
    const batch = openRecord(record)
    step.inputs.push({ kind: 'events', batch, duplicates: record.duplicates, from, to })
    spikes.count(batch, record.duplicates, from, to)
    step.events += to - from
    if (to < record.eventCount) {
      step.to[lane] = { position: record.position, index: to }
      return false
    }
  }
  step.to[lane] = { position: record.end, index: 0 }
  return true
}
