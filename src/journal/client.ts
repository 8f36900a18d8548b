// The journal as the main thread holds it: two threads, one a lane, and the appends that wait for them.

import { join } from 'node:path'
import { assert } from '../lib/assert.ts'
import { readOrCreateEpoch } from './epoch.ts'
import {
  type Appended,
  type Journal,
  type JournalPart,
  type JournalState,
  type Lane,
  lanes,
  type Position,
} from './journal.ts'
import { LaneClient } from './lane-client.ts'
import type { Log } from './lane-options.ts'
import type { Parcel } from './parcel.ts'

const MiB = 1024 * 1024
const hourMs = 3_600_000

/** Sensible values for everything but the folders. */
export const journalDefaults = {
  segmentBytes: 128 * MiB,
  keepBytes: 10 * 1024 * MiB,
  keepMs: 72 * hourMs,
  dedupWindowEvents: 4_000_000,
  /** Bytes of a lane that are handed over and not yet on disk; one chain of any size may always wait alone. */
  queueBytesMax: 64 * MiB,
  freeBytesMin: 256 * MiB,
  killAt: null as string | null,
  log: (() => {}) as Log,
}

export interface JournalOptions extends Partial<typeof journalDefaults> {
  /** Holds the epoch and a folder for each lane. */
  readonly dir: string
  readonly quarantineDir: string
}

/** Realtime writes big groups in one go; history syncs often, so that it never holds the disk for long. */
const syncBytesMax: Record<Lane, number> = { realtime: 8 * MiB, historical: MiB }

/**
 * Opens the journal in `options.dir`, creating it when there is none.
 * Errors: lineage_foreign and data_dir_unusable for files that do not belong there, storage_failed when the disk fails
 * or has no room to recover.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const filled = { ...journalDefaults, ...options }
  const { dir, log, queueBytesMax, ...settings } = filled
  const epoch = readOrCreateEpoch(dir)
  const opening = lanes.map((lane) =>
    LaneClient.open(
      { ...settings, lane, dir: join(dir, lane), epoch, syncBytesMax: syncBytesMax[lane] },
      queueBytesMax,
      log,
    ),
  )
  const opened = await Promise.allSettled(opening)
  const refused = opened.find((result) => result.status === 'rejected')
  if (refused !== undefined) {
    await Promise.all(opened.map((result) => (result.status === 'fulfilled' ? result.value.close() : null)))
    throw refused.reason
  }
  const [realtime, historical] = await Promise.all(opening)
  assert(realtime !== undefined && historical !== undefined, 'there are two lanes')
  return new ThreadedJournal(epoch, { realtime, historical })
}

class ThreadedJournal implements Journal {
  readonly #epoch: string
  readonly #lanes: Readonly<Record<Lane, LaneClient>>

  constructor(epoch: string, clients: Readonly<Record<Lane, LaneClient>>) {
    this.#epoch = epoch
    this.#lanes = clients
    // The disk under both lanes is one: when one fails, nothing may be acknowledged by the other.
    clients.realtime.onFailed((error) => clients.historical.fail(error))
    clients.historical.onFailed((error) => clients.realtime.fail(error))
  }

  append(lane: Lane, chain: readonly JournalPart[] | Parcel): Promise<Appended> {
    return this.#lanes[lane].append(chain)
  }

  state(): JournalState {
    const { realtime, historical } = this.#lanes
    return { epoch: this.#epoch, lanes: { realtime: realtime.state(), historical: historical.state() } }
  }

  onCommitted(listener: (lane: Lane, committed: Position) => void): void {
    for (const lane of lanes) this.#lanes[lane].onCommitted((committed) => listener(lane, committed))
  }

  onFailed(listener: (error: Error) => void): void {
    // A failure of either lane fails both, so listening to one is enough and calls once.
    this.#lanes.realtime.onFailed(listener)
  }

  release(lane: Lane, position: Position): void {
    this.#lanes[lane].release(position)
  }

  async close(): Promise<void> {
    await Promise.all(lanes.map((lane) => this.#lanes[lane].close()))
  }
}
