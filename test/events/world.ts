// A world for tests of the events store: a data folder, a journal in memory, and the store loaded from it.

import { encodeCommand } from '../../src/consumer/command.ts'
import { forLanes, type Positions } from '../../src/consumer/offset.ts'
import { Consumer, type StepOutcome } from '../../src/events/consumer.ts'
import { openStore, type Store } from '../../src/events/store.ts'
import type {
  JournalChunk,
  JournalGap,
  JournalReader,
  JournalRecord,
  JournalState,
  Lane,
  Position,
} from '../../src/journal/journal.ts'
import { alignTo8, type Bytes } from '../../src/lib/bytes.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { Lender, recordAt } from '../journal/memory-journal.ts'
import { type BatchInput, makeBatch } from './make-batch.ts'

export const epoch = '11111111-2222-4333-8444-555555555555'

/** A journal that holds its records in memory and numbers them as if they lay in files. */
export class FakeJournal implements JournalReader {
  readonly records: Record<Lane, JournalRecord[]> = { realtime: [], historical: [] }
  readonly gaps: Record<Lane, JournalGap[]> = { realtime: [], historical: [] }
  readonly committed: Record<Lane, Position> = { realtime: at(0), historical: at(0) }
  readonly #lender = new Lender()

  /** Appends a batch; `duplicates` are the indexes of events seen before. */
  append(input: BatchInput, lane: Lane = 'realtime', duplicates: readonly number[] = []): JournalRecord {
    const bits = new Uint8Array(Math.ceil(input.rows.length / 8))
    for (const index of duplicates) bits[index >> 3]! |= 1 << (index & 7)
    return this.#push(
      lane,
      'events',
      makeBatch(input),
      input.rows.length,
      duplicates.length > 0 ? bits : null,
    )
  }

  deleteProject(projectId: number, lane: Lane = 'realtime'): JournalRecord {
    return this.#push(lane, 'command', encodeCommand({ command: 'delete_project', projectId }), 0, null)
  }

  deletePerson(projectId: number, personUuid: string): JournalRecord {
    const deletion = { projectId, personUuid, deletesEvents: true, deletedAtMs: 0 }
    return this.#push(
      'realtime',
      'command',
      encodeCommand({ command: 'delete_person', ...deletion }),
      0,
      null,
    )
  }

  /** Leaves a damaged stretch. */
  damage(size: number, lane: Lane = 'realtime'): JournalGap {
    const position = this.committed[lane]
    this.committed[lane] = at(position + size)
    const gap = { position, end: this.committed[lane] }
    this.gaps[lane].push(gap)
    return gap
  }

  read(lane: Lane, from: Position, upTo: Position, bytesMax: number): JournalChunk {
    const records: JournalRecord[] = []
    let next = from
    for (const record of this.records[lane]) {
      if (record.position < from || record.end > upTo) continue
      if (records.length > 0 && record.end - from > bytesMax) break
      records.push(record)
      next = record.end
    }
    const isEnd = records.length === 0 || next === this.records[lane].at(-1)?.end
    if (isEnd) next = upTo
    const gaps = this.gaps[lane].filter((gap) => gap.position >= from && gap.position < next)
    return this.#lender.lend({ records, gaps, next })
  }

  recordAt(lane: Lane, position: Position): JournalRecord | 'none' | 'unknown' {
    return recordAt(this.records[lane], position)
  }

  takeBack(): void {
    this.#lender.takeBack()
  }

  close(): void {}

  state(): JournalState {
    return {
      epoch,
      lanes: forLanes((lane) => ({
        oldest: at(0),
        committed: this.committed[lane],
        queuedBytes: 0,
        storedBytes: 0,
        damagedBytes: 0,
        isFull: false,
        commitCount: 0,
        commitMsTotal: 0,
      })),
    }
  }

  #push(
    lane: Lane,
    kind: JournalRecord['kind'],
    payload: Bytes,
    eventCount: number,
    duplicates: Uint8Array | null,
  ): JournalRecord {
    const position = this.committed[lane]
    const end = at(position + 64 + alignTo8(payload.byteLength))
    const record = { position, end, kind, eventCount, duplicates, payload }
    this.records[lane].push(record)
    this.committed[lane] = end
    return record
  }
}

export interface World {
  readonly store: Store
  readonly consumer: Consumer
  /** One step over everything that is committed. */
  step(): Promise<StepOutcome>
  /** Steps until everything is applied; returns how many steps it took. */
  applyAll(): Promise<number>
  /** Rows of a SELECT on the writing connection, values as JSON has them. */
  select(sql: string): Promise<unknown[][]>
  close(): void
}

export async function openWorld(
  dataDir: string,
  journal: FakeJournal,
  options: {
    killAt?: string
    isJournalComplete?: boolean
    reopen?: (store: Store) => Store
    clock?: Clock
  } = {},
): Promise<World> {
  const clock = options.clock ?? systemClock
  const opened = await openStore({
    dataDir,
    memoryLimitBytes: 512 * 1024 * 1024,
    threads: 2,
    isJournalComplete: options.isJournalComplete ?? true,
    clock,
  })
  const store = options.reopen?.(opened) ?? opened
  const killAt = options.killAt ?? null
  const consumer = await Consumer.open(store, journal, { epoch, clock, killAt })
  const step = () => consumer.step(journal.committed)
  return {
    store,
    consumer,
    step,
    applyAll: async () => {
      for (let steps = 0; ; steps++) {
        if (isCaughtUp(consumer, journal.committed)) return steps
        const outcome = await step()
        if (outcome.kind === 'fatal' || outcome.kind === 'stopped') throw new Error(outcome.detail)
      }
    },
    select: async (sql) => (await opened.writer.runAndReadAll(sql)).getRowsJson(),
    close: () => {
      consumer.close()
      store.close()
    },
  }
}

function isCaughtUp(consumer: Consumer, committed: Positions): boolean {
  const behind = forLanes((lane) => committed[lane] - consumer.offsets[lane].position)
  return behind.realtime === 0 && behind.historical === 0
}

function at(position: number): Position {
  return position as Position // addresses of the journal above
}
