// Builds lanes on a simulated disk, the parts to append, and what readers make of them.

import type { JournalPart, JournalRecord, Position } from '../../src/journal/journal.ts'
import { LaneWriter } from '../../src/journal/lane.ts'
import type { LaneOptions } from '../../src/journal/lane-options.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import type { SimulatedDisk } from './simulated-disk.ts'

export const epoch = '0190c3a2-6b1e-7c3d-8e4f-5a6b7c8d9e0f'

export const laneOptions: LaneOptions = {
  lane: 'realtime',
  dir: '/j/realtime',
  quarantineDir: '/q',
  epoch,
  segmentBytes: 1024,
  keepBytes: 1_000_000,
  keepMs: 72 * 3_600_000,
  dedupWindowEvents: 1000,
  freeBytesMin: 1000,
  syncBytesMax: 4096,
  killAt: null,
  log: () => {},
}

/** What a lane reported: one entry an append, in the order of the reports. */
export interface Outcomes {
  readonly acks: { id: number; position: number; end: number; duplicateCount: number }[]
  readonly refusedIds: number[]
  readonly errors: string[]
}

export interface LaneWorld extends Outcomes {
  readonly lane: LaneWriter
}

/** Opens a lane at wall-clock time `nowMs`. */
export function openLane(disk: SimulatedDisk, options: Partial<LaneOptions> = {}, nowMs = 0): LaneWorld {
  const outcomes: Outcomes = { acks: [], refusedIds: [], errors: [] }
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0 }
  const lane = new LaneWriter(disk, { ...laneOptions, ...options }, clock, {
    committed: (acks) => {
      for (let at = 0; at < acks.length; at += 4) {
        const [id, position, end, duplicateCount] = acks.slice(at, at + 4) as [number, number, number, number]
        outcomes.acks.push({ id, position, end, duplicateCount }) // the report has four numbers a chain
      }
    },
    refused: (ids) => outcomes.refusedIds.push(...ids),
    failed: (error) => outcomes.errors.push(error.code),
  })
  return { lane, ...outcomes }
}

/** A part of one event for each key; key 0 stands for an event that is never a duplicate. */
export function part(text: string, keys: readonly number[] = [0]): JournalPart {
  const dedupKeys = Uint32Array.from(keys.flatMap((key) => [key, 0]))
  return { kind: 'events', payload: new TextEncoder().encode(text), eventCount: keys.length, dedupKeys }
}

export function command(text: string): JournalPart {
  return { kind: 'command', payload: new TextEncoder().encode(text), eventCount: 0, dedupKeys: null }
}

/** Takes every step that is left. */
export function run(lane: LaneWriter): void {
  while (lane.step());
}

export interface ReadBack {
  readonly texts: string[]
  readonly records: JournalRecord[]
  readonly gaps: { position: number; end: number }[]
}

/** Reads everything of the lane up to its committed position, `bytesMax` at a time. */
export function readAll(disk: SimulatedDisk, lane: LaneWriter, bytesMax = 200): ReadBack {
  const reader = openJournalReader({ dir: '/j', quarantineDir: '/q', disk })
  const { oldest, committed } = lane.status()
  const records: JournalRecord[] = []
  const gaps: { position: number; end: number }[] = []
  for (let from: Position = oldest; from < committed; ) {
    const chunk = reader.read('realtime', from, committed, bytesMax)
    if (chunk.next <= from) throw new Error(`no progress at ${from}`)
    records.push(...chunk.records)
    gaps.push(...chunk.gaps)
    from = chunk.next
  }
  reader.close()
  return { texts: records.map((record) => textOf(record)), records, gaps }
}

export function textOf(record: JournalRecord): string {
  return Buffer.from(record.payload).toString('utf8')
}

/** Which events of a record are flagged, by index. */
export function flaggedIn(record: JournalRecord): number[] {
  const { duplicates, eventCount } = record
  if (duplicates === null) return []
  return Array.from({ length: eventCount }, (_, i) => i).filter((i) => (duplicates[i >> 3]! >> (i & 7)) & 1)
}

/** Changes one bit of a file. */
export function flip(disk: SimulatedDisk, path: string, bit: number): void {
  disk.edit(path, (bytes) => {
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    return bytes
  })
}
