// Exports that run over a store in this process and a database of their own, under a clock that is moved.

import type { Test } from 'tap'
import { createCopies, fillCopy } from '../../src/events/copied-rows.ts'
import type { ExtractRequest } from '../../src/events/extract.ts'
import { runExtract } from '../../src/events/extract.ts'
import { GivingWay } from '../../src/events/giving-way.ts'
import type { CopiesTask, FillTask } from '../../src/events/messages.ts'
import { Pacing } from '../../src/events/pacing.ts'
import { Readers, runQuery } from '../../src/events/readers.ts'
import { Selects, type SelectThread } from '../../src/events/selects.ts'
import { type Exports, type ExportsOptions, openExports } from '../../src/exports/exports.ts'
import type { EventsStore } from '../../src/exports/extraction.ts'
import type { Lane } from '../../src/journal/journal.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { makeUuidV7 } from '../../src/lib/uuid.ts'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { makeSealer } from '../../src/sealing/sealer.ts'
import { fillTenants } from '../api/world.ts'
import type { BatchInput } from '../events/make-batch.ts'
import { FakeJournal, openWorld as openStoreWorld, type World as StoreWorld } from '../events/world.ts'
import { keysOf } from '../sealing/keys.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { Recorder } from './recorder.ts'

/** The hour that the tests begin in. */
export const noonMs = Date.parse('2024-05-01T12:00:00Z')
export const minuteMs = 60_000

export interface RunRow {
  readonly id: string
  readonly batch_export_id: string
  readonly status: string
  readonly records_completed: number | null
  readonly records_total_count: number | null
  readonly latest_error: string | null
  readonly data_interval_start: string | null
  readonly data_interval_end: string
  readonly cursor: string | null
  readonly backfill_id: string | null
  readonly stretch_start: string | null
  readonly stretch_end: string
  readonly finished_at: string | null
}

export class ExportsWorld {
  readonly connectionString: string
  readonly postgres: Postgres
  readonly store: StoreWorld
  readonly journal: FakeJournal
  readonly recorder: Recorder
  readonly #open: () => Exports
  exports: Exports
  readonly #time: { nowMs: number }

  constructor(parts: {
    connectionString: string
    postgres: Postgres
    store: StoreWorld
    journal: FakeJournal
    recorder: Recorder
    open: () => Exports
    time: { nowMs: number }
  }) {
    this.#time = parts.time
    this.connectionString = parts.connectionString
    this.postgres = parts.postgres
    this.store = parts.store
    this.journal = parts.journal
    this.recorder = parts.recorder
    this.#open = parts.open
    this.exports = parts.open()
  }

  /** Stores events at the time it is. */
  async ingest(
    input: BatchInput,
    lane: Lane = 'realtime',
    duplicates: readonly number[] = [],
  ): Promise<void> {
    this.journal.append(input, lane, duplicates)
    await this.store.applyAll()
  }

  get nowMs(): number {
    return this.#time.nowMs
  }

  /** Moves the clock to a minute after noon. */
  at(minute: number): void {
    this.#time.nowMs = noonMs + minute * minuteMs
  }

  async makeExport(more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const id = makeUuidV7(this.#time.nowMs)
    const columns = {
      id,
      project_id: 1,
      name: 'export',
      model: 'events',
      destination_type: 'NoOp',
      destination_config: {},
      interval: 'hour',
      paused: false,
      created_at: new Date(this.#time.nowMs).toISOString(),
      last_updated_at: new Date(this.#time.nowMs).toISOString(),
      ...more,
    }
    await this.postgres.query(
      'insert into batch_export select * from jsonb_populate_record(null::batch_export, $1)',
      [JSON.stringify(columns)],
    )
    return id
  }

  async backfill(exportId: string, start: string | null, end: string | null): Promise<string> {
    const id = makeUuidV7(this.#time.nowMs)
    await this.postgres.query(
      `insert into batch_export_backfill (id, project_id, batch_export_id, start_at, end_at, status, created_at,
         last_updated_at)
       select $1, project_id, id, $3, $4, 'Starting', to_timestamp($5), to_timestamp($5)
       from batch_export where id = $2`,
      [id, exportId, start, end, this.#time.nowMs / 1000],
    )
    return id
  }

  /** Lets events that were born to an id be gone from every read, as the deletion of a person does. */
  async deleteEventsOf(bornId: string): Promise<void> {
    const { writer } = this.store.store
    await writer.run(
      'insert into mirror select 1, 1, uuid(), 0, null, null, now() where not exists (from mirror)',
    )
    await writer.run(`insert into person_tombstone values (1, 1, '${bornId}', 'infinity', 0)`)
  }

  /** Plans what is due, and waits until nothing is open. */
  async settle(): Promise<RunRow[]> {
    await until(async () => {
      await this.exports.tick()
      return this.isSettled()
    })
    return this.runs()
  }

  /** True when nothing is open. */
  async isSettled(): Promise<boolean> {
    const { rowCount } = await this.postgres.query(
      `select from batch_export_run where finished_at is null
       union all select from batch_export_backfill where finished_at is null`,
    )
    return rowCount === 0
  }

  /** Lets jobs wait no longer. */
  async hurry(): Promise<void> {
    await this.postgres.query(
      'select spate_jobs.reschedule_jobs(array(select id from spate_jobs.jobs), now())',
    )
  }

  /** The oldest interval first. */
  async runs(): Promise<RunRow[]> {
    const { rows } = await this.postgres.query<RunRow>(
      'select * from batch_export_run order by data_interval_end, created_at, id',
    )
    return rows
  }

  async statuses(): Promise<string[]> {
    return (await this.runs()).map(({ status }) => status)
  }

  async messages(level: string): Promise<string[]> {
    const { rows } = await this.postgres.query<{ message: string }>(
      'select message from batch_export_log where level = $1 order by id',
      [level],
    )
    return rows.map(({ message }) => message)
  }

  /** A new process over the same data; `between` is called when the old one has ended. */
  async restart(between = () => {}): Promise<void> {
    await this.exports.close()
    between()
    this.exports = this.#open()
  }
}

/** `seen` makes the database that the exports see of the one that there is. */
export async function openExportsWorld(
  t: Test,
  tuned: Partial<ExportsOptions> = {},
  seen = (postgres: Postgres): Postgres => postgres,
): Promise<ExportsWorld> {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log })
  await fillTenants(postgres)
  const dataDir = t.testdir()
  const journal = new FakeJournal()
  const time = { nowMs: noonMs }
  const clock: Clock = { nowMs: () => time.nowMs, monotonicMs: () => performance.now() }
  const store = await openStoreWorld(dataDir, journal, { clock })
  const recorder = new Recorder()
  const givingWay = new GivingWay({ clock, isIngesting: () => false })
  const { instance, writer } = store.store
  const readers = new Readers(instance, clock, new Pacing(writer, givingWay, clock))
  const outbound = openOutbound({ allow: null, dnsServers: null })
  const seenPostgres = seen(postgres)
  const open = (): Exports =>
    openExports({
      connectionString: Promise.resolve(connectionString),
      postgres: seenPostgres,
      store: storeOf(readers),
      sealer: makeSealer(keysOf('a'), log),
      outbound,
      destinations: { S3: recorder, Postgres: recorder, Redshift: recorder, HTTP: recorder, NoOp: recorder },
      dataDir,
      logDays: 30,
      journal,
      clock,
      log,
      killAt: null,
      tickMs: 50,
      retryMs: () => 20,
      chunkRowsMax: 3,
      ...tuned,
    })
  const world = new ExportsWorld({ connectionString, postgres, store, journal, recorder, open, time })
  t.teardown(async () => {
    await world.exports.close()
    await readers.close()
    store.close()
    outbound.close()
    await postgres.close()
  })
  return world
}

function storeOf(readers: Readers): EventsStore {
  const thread: SelectThread = {
    ask: (async (kind: string, task: object) => {
      // `Selects` sends nothing else here, with what belongs to it.
      const { id, ...request } = task as ExtractRequest & { id: number }
      const copies = task as Omit<CopiesTask & Omit<FillTask, 'kind'>, 'kind'>
      if (kind === 'cancel') return readers.interrupt(id)
      if (kind === 'prepare_copies')
        return readers.hold(id, (connection) => createCopies(connection, copies.tables))
      if (kind === 'fill_copy')
        return readers.run((connection) => fillCopy(connection, copies.projectId, copies.page), { id })
      if (kind === 'drop_copies') return readers.letGo(id)
      return readers.run((connection) => runExtract(connection, { kind: 'extract', id, ...request }), {
        id,
        reader: 'exports',
      })
    }) as SelectThread['ask'], // answers each kind as EventsTasks says
  }
  const selects = new Selects(thread, null, systemClock)
  return {
    query: (sql, values = []) => readers.run((connection) => runQuery(connection, sql, values)),
    queryForExport: (sql, values = []) =>
      readers.run((connection) => runQuery(connection, sql, values), { reader: 'exports' }),
    extract: (request, onCancel, copies = null) => selects.extract(request, onCancel, copies),
  }
}
