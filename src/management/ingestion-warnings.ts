// What capture dropped or altered, counted by project, kind and reason: in memory first, added to Postgres about once
// a second and at the end. While Postgres is down the counts stay here, for a bounded number of reasons; when a write
// ends in doubt (the connection broke after it was sent) it is repeated, so a count may then be too high. A crash loses
// the last second.

import type { Remark } from '../capture/capture-task.ts'
import type { Clock } from '../lib/clock.ts'
import { isTransient, type Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'

export type WarningKind = 'drop' | 'warning'

export interface IngestionWarnings {
  /** Counts the remarks of one request. */
  record(projectId: number, kind: WarningKind, remarks: readonly Remark<string>[]): void
  /** Adds what is counted to Postgres. Errors: postgres_unavailable, and the counts are kept. */
  flush(): Promise<void>
  /** Stops counting and tries to add the rest. */
  close(): Promise<void>
}

interface IngestionWarningsOptions {
  readonly postgres: Postgres
  readonly clock: Clock
  readonly log: Log
  readonly flushIntervalMs?: number
}

interface Count {
  readonly projectId: number
  readonly kind: WarningKind
  readonly reason: string
  readonly firstSeenMs: number
  count: number
  lastSeenMs: number
  sample: Remark<string>['sample']
}

const flushIntervalMsDefault = 1000
/** Projects times reasons that wait for Postgres; past it new ones are not counted. */
const countsMax = 10_000

const addCounts = `
  insert into ingestion_warning (project_id, kind, reason, count, first_seen, last_seen, sample)
  select project_id, kind, reason, count, to_timestamp(first_seen), to_timestamp(last_seen), sample::jsonb
  from unnest($1::integer[], $2::text[], $3::text[], $4::bigint[], $5::float8[], $6::float8[], $7::text[])
    as added (project_id, kind, reason, count, first_seen, last_seen, sample)
  where exists (select from project where project.id = added.project_id)
  on conflict (project_id, kind, reason) do update set
    count = ingestion_warning.count + excluded.count,
    last_seen = greatest(ingestion_warning.last_seen, excluded.last_seen),
    sample = excluded.sample`

export function openIngestionWarnings(options: IngestionWarningsOptions): IngestionWarnings {
  const { postgres, clock, log, flushIntervalMs = flushIntervalMsDefault } = options
  let counts = new Map<string, Count>()
  let running: Promise<void> | null = null

  const record: IngestionWarnings['record'] = (projectId, kind, remarks) => {
    const nowMs = clock.nowMs()
    for (const { reason, count, sample } of remarks) {
      add(counts, { projectId, kind, reason, count, firstSeenMs: nowMs, lastSeenMs: nowMs, sample })
    }
  }
  const write = async (): Promise<void> => {
    const writing = counts
    counts = new Map()
    try {
      await postgres.query(addCounts, columnsOf([...writing.values()]))
    } catch (error) {
      const later = counts
      counts = writing
      for (const count of later.values()) add(counts, count)
      throw error
    }
  }
  const flush = async (): Promise<void> => {
    // Whoever waits needs what was counted before the call, which a write already under way may lack.
    while (running !== null) await running.catch(() => {})
    if (counts.size === 0) return
    running = write().finally(() => {
      running = null
    })
    await running
  }
  const flushAndReport = (): Promise<void> =>
    flush().catch((error: unknown) => {
      const message = 'ingestion warnings were not written'
      if (isTransient(error)) log.debug({ err: error }, message)
      else log.error({ err: error }, message)
    })
  const timer = setInterval(flushAndReport, flushIntervalMs).unref()
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await flushAndReport()
  }
  return { record, flush, close }
}

function add(counts: Map<string, Count>, added: Count): void {
  const key = `${added.projectId} ${added.kind} ${added.reason}`
  const known = counts.get(key)
  if (known !== undefined) {
    known.count += added.count
    known.lastSeenMs = added.lastSeenMs
    known.sample = added.sample
  } else if (counts.size < countsMax) counts.set(key, added)
}

function columnsOf(counts: readonly Count[]): unknown[] {
  return [
    counts.map(({ projectId }) => projectId),
    counts.map(({ kind }) => kind),
    counts.map(({ reason }) => reason),
    counts.map(({ count }) => count),
    counts.map(({ firstSeenMs }) => firstSeenMs / 1000),
    counts.map(({ lastSeenMs }) => lastSeenMs / 1000),
    counts.map(({ sample }) => sampleText(sample)),
  ]
}

/** Samples are cut from what clients sent: jsonb refuses NUL, and half of a surrogate pair may be left of a cut. */
function sampleText({ event, distinctId, detail }: Remark<string>['sample']): string {
  const clean = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd')
  return JSON.stringify({ event: clean(event), distinct_id: clean(distinctId), detail: clean(detail) })
}
