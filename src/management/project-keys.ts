// The projects capture may store events for, kept in memory: read from Postgres at the start, again within moments of
// a change (notification `project_changed`), and every minute in case one was missed.
//
// A project that has a monthly quota is over it when the events of the running UTC month that the persons consumer has
// counted reach it. That is read with the projects, and within a second of the consumer's progress, so what is stored
// beyond a quota is what arrives in that second and what the consumer is behind. Usage that cannot be read keeps its
// last answer until the month is over; from then on, and at a start without Postgres, nobody is over: a quota that is
// exceeded costs less than events that are lost.
//
// A copy on disk lets capture start and go on while Postgres is down: keys.snapshot, JSON of CaptureProject[]
// (checked-copy.ts).

import { isDeepStrictEqual } from 'node:util'
import { type CaptureProject, encodeProjects } from '../capture/projects.ts'
import { readCopy, writeCopy } from '../checked-copy.ts'
import type { Clock } from '../lib/clock.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { isTransient, type Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import { type KeyAnswer, openKeySearch } from './key-search.ts'

export interface ProjectKeys {
  /** The current projects, for capture/projects.ts. Replaced, never changed. */
  snapshot(): SharedArrayBuffer
  /** Asks Postgres for a key that the snapshot lacks. After `found` the next snapshot has it. */
  lookUp(apiKey: string): Promise<KeyAnswer>
  /** The persons consumer may have counted events: reads the usage again, when a quota depends on it. */
  usageMayHaveGrown(): void
  close(): Promise<void>
}

interface ProjectKeysOptions {
  readonly postgres: Postgres
  /** DATA_DIR/keys.snapshot */
  readonly file: string
  readonly log: Log
  readonly clock: Clock
}

const reloadMs = 60_000
/** Usage is read no more often. */
const usageMs = 1_000
const changeChannel = 'project_changed'

/** Opens the set: from Postgres, else from the copy on disk, else empty. Never fails because Postgres is down. */
export async function openProjectKeys(options: ProjectKeysOptions): Promise<ProjectKeys> {
  const { postgres, file, log, clock } = options
  let text = readCopy(file, log) ?? '[]'
  // Written by this file below, from rows of the same type.
  let projects = (JSON.parse(text) as CaptureProject[]).map(withinQuota)
  let month = monthOf(clock.nowMs())
  let hasQuotas = false
  let known = new Set(projects.map((project) => project.apiKey))
  let snapshot = encodeProjects(projects)

  const publish = (current: CaptureProject[]): void => {
    if (isDeepStrictEqual(current, projects)) return
    projects = current
    known = new Set(projects.map((project) => project.apiKey))
    snapshot = encodeProjects(projects)
  }
  const load = async (): Promise<void> => {
    const loadedMonth = monthOf(clock.nowMs())
    const loaded = await loadProjects(postgres, loadedMonth)
    month = loadedMonth
    hasQuotas = loaded.hasQuotas
    publish(loaded.projects)
    const loadedText = JSON.stringify(loaded.projects)
    if (loadedText === text) return
    text = loadedText
    writeCopy(file, text, log)
  }
  const report = (error: unknown): void => {
    const message = 'the projects were not read from Postgres'
    if (isTransient(error)) log.debug({ err: error }, message)
    else log.error({ err: error }, message)
    if (monthOf(clock.nowMs()) !== month) publish(projects.map(withinQuota))
  }
  const reload = singleFlight(() => load().catch(report))
  const find = (keys: readonly string[]): Promise<string[]> =>
    findKeys(postgres, keys).catch((error: unknown) => {
      report(error)
      throw error
    })
  const search = openKeySearch({ find, clock })

  await reload()
  const listening = postgres.listen(changeChannel, () => void reload())
  const timer = setInterval(reload, reloadMs).unref()

  const lookUp = async (apiKey: string): Promise<KeyAnswer> => {
    if (known.has(apiKey)) return 'found'
    const answer = await search.ask(apiKey)
    if (answer !== 'found' || known.has(apiKey)) return answer
    await reload()
    return known.has(apiKey) ? 'found' : 'unavailable'
  }
  let usageTimer: NodeJS.Timeout | null = null
  const usageMayHaveGrown = (): void => {
    if (!hasQuotas || usageTimer !== null) return
    const read = (): void => {
      usageTimer = null
      void reload()
    }
    usageTimer = setTimeout(read, usageMs).unref()
  }
  const close = async (): Promise<void> => {
    clearInterval(timer)
    if (usageTimer !== null) clearTimeout(usageTimer)
    await listening.close()
  }
  return { snapshot: () => snapshot, lookUp, usageMayHaveGrown, close }
}

interface LoadedProjects {
  readonly projects: CaptureProject[]
  /** Whether any has a quota. */
  readonly hasQuotas: boolean
}

/** Reads all projects, with their usage since the first day of `month`. */
async function loadProjects(postgres: Postgres, month: string): Promise<LoadedProjects> {
  const { rows } = await postgres.query<{
    id: number
    api_token: string
    anonymize_ips: boolean
    has_quota: boolean
    over_quota: boolean
  }>(
    `select id, api_token, anonymize_ips, monthly_event_quota is not null as has_quota,
       case when monthly_event_quota is null then false else monthly_event_quota <= (
         select coalesce(sum(billable), 0) from usage_daily
         where project_id = project.id and day >= $1::date and day < $1::date + interval '1 month')
       end as over_quota
     from project order by id`,
    [`${month}-01`],
  )
  const projects = rows.map((row) => ({
    id: row.id,
    apiKey: row.api_token,
    anonymizeIps: row.anonymize_ips,
    overQuota: row.over_quota,
  }))
  return { projects, hasQuotas: rows.some((row) => row.has_quota) }
}

function withinQuota(project: CaptureProject): CaptureProject {
  return { ...project, overQuota: false }
}

/** The UTC month, as YYYY-MM. */
function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7)
}

async function findKeys(postgres: Postgres, keys: readonly string[]): Promise<string[]> {
  const { rows } = await postgres.query<{ api_token: string }>(
    'select api_token from project where api_token = any($1)',
    [keys],
  )
  return rows.map((row) => row.api_token)
}
