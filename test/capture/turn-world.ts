// Small requests captured together, in front of a journal in memory.

import type { CaptureReport } from '../../src/capture/capture-append.ts'
import type { CaptureTask } from '../../src/capture/capture-task.ts'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import { TurnCapture } from '../../src/capture/turn-capture.ts'
import type { Journal, JournalPart, Lane } from '../../src/journal/journal.ts'
import { MemoryJournal, partsOf } from '../journal/memory-journal.ts'
import { type Captured, now, type Row, rowsOf, task } from './tasks.ts'

export interface AppendedRecord {
  readonly lane: Lane
  readonly projectId: number
  readonly receivedAtMs: number
  readonly rows: Row[]
}

/** A turn capture in front of `journal`, and what was appended and reported. */
export function turnWorld(journal: Pick<Journal, 'append'> = new MemoryJournal()) {
  const records: AppendedRecord[] = []
  const reports: CaptureReport[] = []
  const clock = { ms: now, nowMs: () => clock.ms, monotonicMs: () => 0 }
  const turn = new TurnCapture({
    journal: {
      append(lane, chain) {
        const parts = partsOf(chain)
        for (const part of parts) records.push(recordOf(lane, part))
        return journal.append(lane, parts)
      },
    },
    observer: { captured: (report) => reports.push(report) },
    clock,
  })
  /** Decodes a request that came now. */
  const send = (body: unknown, changes: Partial<CaptureTask> = {}) =>
    turn.decode(task(body, { receivedAtMs: turn.receivedAtMs(), ...changes }))
  return { turn, send, records, reports, clock }
}

/** The same in front of a journal in which each append waits until it is released, in their order. */
export function slowWorld() {
  const waiting: (() => void)[] = []
  const memory = new MemoryJournal()
  const world = turnWorld({
    async append(lane, parts) {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return memory.append(lane, parts)
    },
  })
  const release = (): void => waiting.shift()?.()
  const releaseUntil = async (all: Promise<unknown>[]): Promise<void> => {
    let isDone = false
    Promise.all(all).then(() => (isDone = true))
    for (; !isDone; await turnEnd()) release()
  }
  return { ...world, release, releaseUntil }
}

function recordOf(lane: Lane, { payload, eventCount, dedupKeys }: JournalPart): AppendedRecord {
  const { projectId, receivedAtMs } = openEventBatch(payload).header
  if (dedupKeys === null) throw new Error('events have keys')
  const part = { payload: new Uint8Array(payload), eventCount, identityBornIds: new Uint8Array(0) }
  const parts = [{ ...part, dedupKeys: new Uint32Array(dedupKeys) }]
  return { lane, projectId, receivedAtMs, rows: rowsOf({ parts } as Captured) } // rowsOf reads the parts alone
}

export const turnEnd = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
