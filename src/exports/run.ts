// One attempt at a run: chunks are staged, delivered and committed one after the other, from the run's cursor on.
//
//   Starting   planned, never tried
//   Running    tried at least once; between two attempts its latest_error says what the last one met
//   Completed  everything is delivered
//   Failed     the destination, or the export as it is written, needs somebody to do something
//   FailedRetryable   nothing could be delivered for three days
//   TimedOut   not complete a week after it began
//   Terminated the process has ended five times in a row while it worked on the same chunk
//   ContinuedAsNew    the export was changed after a part may have been delivered: a new run takes the interval from
//              its start
//   Cancelled  by somebody (management)
//
// FailedBilling is a status that PostHog has and nothing here leads to.
//
// Exactly once, as far as Spate goes: the stretch of a run is fixed when it is planned, a cursor is committed behind
// every delivered chunk, and one process works on one run of an interval at a time. Between `deliver` and the commit
// lies the only gap: a crash there delivers the same chunk again, which a destination makes harmless (delivery.ts). So
// that it is the same, its end is committed before it is delivered: meanwhile events may be deleted, or the export
// changed.

import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { TenantSql } from '../api/tenant-sql.ts'
import { projectSql } from '../api/tenant-sql.ts'
import type { GivingWay } from '../events/giving-way.ts'
import { killPoint } from '../kill-point.ts'
import type { Clock } from '../lib/clock.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Postgres, Session } from '../postgres/pool.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { decodeOffsets, isReached, offsetsNow } from './boundary.ts'
import {
  type DeliveredChunk,
  type Delivery,
  DeliveryError,
  type Destination,
  type RunSubject,
} from './delivery.ts'
import { DeliveryRest } from './delivery-rest.ts'
import { readConfig, splitConfig } from './destination.ts'
import type { BuiltType } from './destination-keys.ts'
import { chunkBytesMax, type EventsStore, type Extraction, type Subject } from './extraction.ts'
import { remarkOf } from './model-use.ts'
import { openExtraction } from './models.ts'
import { beginAttempt, commitChunk, loadChunks, logRun, markSent, type RunRow } from './run-rows.ts'
import { RunStopped } from './setback.ts'
import type { Staging } from './staging.ts'
import { type OpenDestination, openDestination } from './stored-destination.ts'

/** What working on runs takes. */
export interface RunRooms {
  readonly postgres: Postgres
  readonly store: EventsStore
  readonly sealer: Sealer
  readonly outbound: Outbound
  readonly destinations: Readonly<Record<BuiltType, Destination>>
  readonly staging: Staging
  readonly givingWay: Pick<GivingWay, 'restMs'>
  readonly clock: Clock
  /** Rows of a chunk. */
  readonly chunkRowsMax: number
  /** Where a crash test wants the process to end (kill-point.ts). */
  readonly killAt: string | null
}

export type Outcome =
  | { readonly kind: 'completed'; readonly records: number; readonly bytes: number }
  /** The run has ended or is gone; nothing is left to be said of it. */
  | { readonly kind: 'over' }
  | { readonly kind: 'terminated' }
  /** The export was changed after a part of the run may have been delivered. */
  | { readonly kind: 'changed' }

const crashesMax = 5
const runMsMax = 7 * 24 * 3_600_000

/** Works on a run until it is complete. Errors: what `setbackOf` tells of; RunStopped. */
export async function attemptRun(rooms: RunRooms, run: RunRow, signal: AbortSignal): Promise<Outcome> {
  const { postgres, sealer, clock } = rooms
  const sql = sqlOf(postgres, run)
  const crashes = run.is_at_work ? run.crashes + 1 : run.crashes
  if (crashes >= crashesMax) return { kind: 'terminated' }
  const destination = openDestination(sealer, run.batch_export_id, run)
  const shape = shapeOf(run, destination)
  const hasSent = run.cursor !== null || run.sent_to !== null
  if (run.shape !== null && run.shape !== shape && hasSent) return { kind: 'changed' }
  const subject = subjectOf(rooms, run, destination)
  const extraction = openExtraction({ ...rooms, sql }, run, subject)
  if (run.model !== 'persons') await checkStored(rooms.store, run)
  const total = run.status === 'Starting' ? await extraction.count() : null
  const isOpen = await sql.transaction(async (session) => {
    const change = { shape, isCrashed: run.is_at_work, total }
    if (!(await beginAttempt(session, run, change, clock.nowMs()))) return false
    if (run.status === 'Starting') await logStart(session, run, total, clock.nowMs())
    return true
  })
  if (!isOpen) return { kind: 'over' }
  const attempt = new Attempt(rooms, run, sql, destination, signal)
  try {
    return await attempt.deliverAll(extraction, subject)
  } finally {
    await attempt.close()
  }
}

async function logStart(session: Session, run: RunRow, total: number | null, nowMs: number): Promise<void> {
  const remark = remarkOf(run)
  if (remark !== null) await logRun(session, run, 'WARNING', remark, nowMs)
  await logRun(session, run, 'INFO', `Started${total === null ? '' : `: ${total} records`}.`, nowMs)
}

/** Statements on what belongs to the run's project, and on nothing else. */
export function sqlOf(postgres: Postgres, run: Pick<RunRow, 'project_id' | 'organization_id'>): TenantSql {
  return projectSql(postgres, 0, { id: run.project_id, organization: { id: run.organization_id } })
}

/** Where a run is, and where its next chunk is staged. */
interface Place {
  readonly cursor: string | null
  readonly sentTo: string | null
  readonly index: number
  readonly path: string
}

class Attempt {
  readonly #rooms: RunRooms
  readonly #run: RunRow
  readonly #sql: TenantSql
  readonly #destination: OpenDestination
  readonly #signal: AbortSignal
  readonly #rest: DeliveryRest
  #delivery: Delivery | null = null
  #records: number
  #bytes: number

  constructor(
    rooms: RunRooms,
    run: RunRow,
    sql: TenantSql,
    destination: OpenDestination,
    signal: AbortSignal,
  ) {
    this.#rooms = rooms
    this.#rest = new DeliveryRest(rooms.givingWay, rooms.clock)
    this.#run = run
    this.#sql = sql
    this.#destination = destination
    this.#signal = signal
    this.#records = run.records_completed ?? 0
    this.#bytes = run.bytes_exported ?? 0
  }

  async deliverAll(extraction: Extraction, { format }: Subject): Promise<Outcome> {
    const { staging, clock, killAt } = this.#rooms
    let { cursor, sent_to: sentTo, chunk_count: index } = this.#run
    const startedMs = this.#run.started_at === null ? clock.nowMs() : Date.parse(this.#run.started_at)
    for (;;) {
      this.#signal.throwIfAborted()
      if (clock.nowMs() - startedMs > runMsMax) throw new RunStopped('timed out')
      const path = await staging.place(this.#run.id, index, format)
      const place = { cursor, sentTo, index, path }
      const { isOpen, chunk, next, isLast } = await this.#deliverNext(extraction, place)
      if (!isOpen || !(await this.#commit(next, chunk))) return { kind: 'over' }
      killPoint(killAt, 'after_export_commit')
      await rm(path, { force: true })
      await this.#rest.end(this.#signal)
      if (chunk !== null) index++
      cursor = next
      sentTo = null
      if (isLast) break
    }
    await this.#finish(index)
    return { kind: 'completed', records: this.#records, bytes: this.#bytes }
  }

  /** Takes what follows the cursor to the destination; null when that is no row. */
  async #deliverNext(extraction: Extraction, { cursor, sentTo, index, path }: Place) {
    const { killAt, clock } = this.#rooms
    const { extracted, cursor: next, isLast } = await extraction.next(cursor, path, this.#signal, sentTo)
    killPoint(killAt, 'after_extract')
    // One that was sent and whose rows are all deleted keeps its number: a destination may know it by that.
    let chunk: DeliveredChunk | null = sentTo === null ? null : { index, recordCount: 0, bytes: 0 }
    if (extracted !== null) {
      const { rowCount: recordCount, bytes, columns } = extracted
      const delivery = await this.#open()
      if (next !== sentTo && !(await markSent(this.#sql, this.#run, next, clock.nowMs())))
        return { isOpen: false, chunk, next, isLast }
      const giveWay = this.#rest.begin(bytes, this.#signal)
      await delivery.deliver({ index, path, bytes, recordCount, columns, isLast }, this.#signal, giveWay)
      chunk = { index, recordCount, bytes }
    }
    killPoint(killAt, 'after_deliver')
    return { isOpen: true, chunk, next, isLast }
  }

  async close(): Promise<void> {
    await this.#delivery?.close()
    await this.#rooms.staging.remove(this.#run.id)
  }

  async #commit(cursor: string, chunk: DeliveredChunk | null): Promise<boolean> {
    const { clock } = this.#rooms
    return this.#sql.transaction(async (session) => {
      const isOpen = await commitChunk(session, this.#run, cursor, chunk, clock.nowMs())
      if (!isOpen || chunk === null) return isOpen
      this.#records += chunk.recordCount
      this.#bytes += chunk.bytes
      const text = `Delivered chunk ${chunk.index}: ${chunk.recordCount} records, ${chunk.bytes} bytes.`
      await logRun(session, this.#run, 'INFO', text, clock.nowMs())
      return true
    })
  }

  /** Tells the destination that everything is there; of an interval without rows it hears nothing. */
  async #finish(count: number): Promise<void> {
    if (count === 0 && this.#run.earlier_chunk_count === 0) return
    const delivery = await this.#open()
    await delivery.finish(await loadChunks(this.#sql, this.#run.id), this.#signal)
  }

  async #open(): Promise<Delivery> {
    const { destinations, outbound } = this.#rooms
    const { type, config } = this.#destination
    this.#delivery ??= await destinations[type].open(
      readConfig(type, config),
      runSubjectOf(this.#run),
      outbound,
      this.#signal,
    )
    return this.#delivery
  }
}

/** A store that was put back to an older state comes forward by itself, and is waited for. */
async function checkStored(store: EventsStore, run: RunRow): Promise<void> {
  if (isReached(decodeOffsets(run.stretch_end), await offsetsNow(store))) return
  throw new DeliveryError('temporary', 'The events store has not caught up with what this run is to export.')
}

function subjectOf(rooms: RunRooms, run: RunRow, { type, config }: OpenDestination): Subject {
  const destination = rooms.destinations[type]
  const read = readConfig(type, config)
  return {
    projectId: run.project_id,
    stretchStart: run.stretch_start,
    stretchEnd: run.stretch_end,
    isNewest: run.backfill_id === null && run.planned_until === run.data_interval_end,
    query: run.hogql_query,
    filters: run.filters,
    config: read,
    format: destination.format(read),
    hasPersonProperties: destination.hasPersonProperties && run.hogql_query === null,
    chunkBytesMax: Math.min(destination.chunkBytesMax(read) ?? chunkBytesMax, chunkBytesMax),
  }
}

function runSubjectOf(run: RunRow): RunSubject {
  const start = run.data_interval_start
  return {
    exportId: run.batch_export_id,
    runId: run.id,
    projectId: run.project_id,
    model: run.model,
    startMs: start === null ? null : Date.parse(start),
    endMs: Date.parse(run.data_interval_end),
    isBackfill: run.backfill_id !== null,
    mayRepeat: run.has_forerunner,
    earlierChunkCount: run.earlier_chunk_count,
    hogqlQuery: run.hogql_query,
  }
}

/** Chunks of another shape, or in another place, do not go together. Credentials may change. */
function shapeOf({ model, hogql_query, filters }: RunRow, { type, config }: OpenDestination): string {
  const text = JSON.stringify([model, hogql_query, filters, type, splitConfig(config).shown])
  return createHash('sha256').update(text).digest('base64url')
}
