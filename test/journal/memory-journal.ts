// The journal and its reader in memory, for tests of what stands behind a journal. It keeps the contract of
// src/journal/journal.ts; the contract suite says so. A commit takes one turn of the event loop.

import { ServiceError } from '../../src/errors.ts'
import type {
  Appended,
  Journal,
  JournalChunk,
  JournalPart,
  JournalReader,
  JournalRecord,
  JournalState,
  Lane,
  LaneState,
  Position,
} from '../../src/journal/journal.ts'
import { type Parcel, unpack } from '../../src/journal/parcel.ts'
import { alignTo8 } from '../../src/lib/bytes.ts'

export interface MemoryJournalOptions {
  readonly queueBytesMax: number
  readonly dedupWindowEvents: number
}

interface MemoryLane {
  records: JournalRecord[]
  committed: number
  queue: { parts: readonly JournalPart[]; bytes: number; resolve: (appended: Appended) => void }[]
  queuedBytes: number
  keys: Set<string>
}

/** What a chain consists of. A parcel can be asked once. */
export function partsOf(chain: readonly JournalPart[] | Parcel): readonly JournalPart[] {
  return 'port' in chain ? unpack(chain) : chain
}

const defaults: MemoryJournalOptions = { queueBytesMax: 64 * 1024 * 1024, dedupWindowEvents: 4_000_000 }

export class MemoryJournal implements Journal {
  readonly #options: MemoryJournalOptions
  readonly #lanes: Record<Lane, MemoryLane> = { realtime: emptyLane(), historical: emptyLane() }
  readonly #listeners: ((lane: Lane, committed: Position) => void)[] = []
  #isClosed = false

  constructor(options: Partial<MemoryJournalOptions> = {}) {
    this.#options = { ...defaults, ...options }
  }

  append(lane: Lane, chain: readonly JournalPart[] | Parcel): Promise<Appended> {
    const parts = partsOf(chain)
    if (this.#isClosed) return Promise.reject(new ServiceError('stopping'))
    const target = this.#lanes[lane]
    let bytes = 0
    for (const part of parts) bytes += sizeOf(part)
    if (target.queuedBytes > 0 && target.queuedBytes + bytes > this.#options.queueBytesMax)
      return Promise.reject(new ServiceError('journal_full'))
    target.queuedBytes += bytes
    if (target.queue.length === 0) setImmediate(() => this.#commit(lane))
    return new Promise((resolve) => target.queue.push({ parts, bytes, resolve }))
  }

  state(): JournalState {
    const { realtime, historical } = this.#lanes
    const epoch = '00000000-0000-4000-8000-000000000000'
    return { epoch, lanes: { realtime: stateOf(realtime), historical: stateOf(historical) } }
  }

  onCommitted(listener: (lane: Lane, committed: Position) => void): void {
    this.#listeners.push(listener)
  }

  /** Memory does not fail. */
  onFailed(): void {}

  /** Everything is kept. */
  release(): void {}

  async close(): Promise<void> {
    this.#isClosed = true
    this.#commit('realtime')
    this.#commit('historical')
  }

  reader(): JournalReader {
    const lender = new Lender()
    return {
      read: (lane, from, upTo, bytesMax) => lender.lend(this.#read(lane, from, upTo, bytesMax)),
      recordAt: (lane, position) => recordAt(this.#lanes[lane].records, position),
      takeBack: () => lender.takeBack(),
      close: () => {},
    }
  }

  #commit(lane: Lane): void {
    const target = this.#lanes[lane]
    const queue = target.queue.splice(0)
    if (queue.length === 0) return
    for (const { parts, bytes, resolve } of queue) {
      const position = target.committed as Position // sums of record sizes from 0 on
      let duplicateCount = 0
      for (const part of parts) {
        const flagged = this.#flag(target, part)
        duplicateCount += flagged.count
        const start = target.committed as Position
        target.committed += sizeOf(part)
        target.records.push({
          position: start,
          end: target.committed as Position,
          kind: part.kind,
          eventCount: part.eventCount,
          duplicates: flagged.count > 0 ? flagged.bits : null,
          payload: part.payload.slice(),
        })
      }
      target.queuedBytes -= bytes
      resolve({ position, end: target.committed as Position, duplicateCount })
    }
    for (const listener of this.#listeners) listener(lane, target.committed as Position)
  }

  #flag({ keys }: MemoryLane, { dedupKeys, eventCount }: JournalPart): { bits: Uint8Array; count: number } {
    const bits = new Uint8Array((eventCount + 7) >> 3)
    let count = 0
    for (let event = 0; dedupKeys !== null && event < eventCount; event++) {
      const key = `${dedupKeys[2 * event]}:${dedupKeys[2 * event + 1]}`
      if (key === '0:0') continue
      if (keys.has(key)) {
        bits[event >> 3]! |= 1 << (event & 7)
        count++
        continue
      }
      if (this.#options.dedupWindowEvents > 0) keys.add(key)
      // A set lists its members in the order they came.
      if (keys.size > this.#options.dedupWindowEvents) keys.delete(keys.values().next().value ?? '')
    }
    return { bits, count }
  }

  #read(lane: Lane, from: Position, upTo: Position, bytesMax: number): JournalChunk {
    const records: JournalRecord[] = []
    let next = from
    for (const record of this.#lanes[lane].records) {
      if (record.position < from) continue
      if (record.end > upTo || (records.length > 0 && record.end - from > bytesMax)) break
      records.push(record)
      next = record.end
    }
    return { records, gaps: [], next: records.length === 0 ? upTo : next }
  }
}

/** Hands out copies of records, and spoils them when they are taken back. */
export class Lender {
  #lent: Uint8Array[] = []

  lend(chunk: JournalChunk): JournalChunk {
    const records = chunk.records.map((record) => {
      const payload = record.payload.slice()
      const duplicates = record.duplicates?.slice() ?? null
      this.#lent.push(payload, ...(duplicates === null ? [] : [duplicates]))
      return { ...record, payload, duplicates }
    })
    return { ...chunk, records }
  }

  takeBack(): void {
    for (const bytes of this.#lent) bytes.fill(0xee)
    this.#lent = []
  }
}

/** Among records of a journal in memory. */
export function recordAt(
  records: readonly JournalRecord[],
  position: Position,
): JournalRecord | 'none' | 'unknown' {
  const record = records.find((one) => one.position <= position && position < one.end)
  if (record === undefined) return 'unknown'
  return record.position === position ? record : 'none'
}

function emptyLane(): MemoryLane {
  return { records: [], committed: 0, queue: [], queuedBytes: 0, keys: new Set() }
}

function sizeOf(part: JournalPart): number {
  return alignTo8(24 + part.payload.byteLength)
}

function stateOf({ committed, queuedBytes }: MemoryLane): LaneState {
  return {
    oldest: 0 as Position, // nothing is ever deleted
    committed: committed as Position,
    queuedBytes,
    storedBytes: committed,
    damagedBytes: 0,
    isFull: false,
    commitCount: 0,
    commitMsTotal: 0,
  }
}
