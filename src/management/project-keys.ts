// The projects capture may store events for, kept in memory: read from Postgres at the start, again within moments of
// a change (notification `project_changed`), and every minute in case one was missed.
//
// A copy on disk lets capture start and go on while Postgres is down: keys.snapshot, JSON of CaptureProject[]
// (checked-copy.ts).

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
const changeChannel = 'project_changed'

/** Opens the set: from Postgres, else from the copy on disk, else empty. Never fails because Postgres is down. */
export async function openProjectKeys(options: ProjectKeysOptions): Promise<ProjectKeys> {
  const { postgres, file, log, clock } = options
  let text = readCopy(file, log) ?? '[]'
  // Written by this file below, from rows of the same type.
  let projects = JSON.parse(text) as CaptureProject[]
  let known = new Set(projects.map((project) => project.apiKey))
  let snapshot = encodeProjects(projects)

  const load = async (): Promise<void> => {
    const loaded = await loadProjects(postgres)
    const loadedText = JSON.stringify(loaded)
    if (loadedText === text) return
    text = loadedText
    projects = loaded
    known = new Set(projects.map((project) => project.apiKey))
    snapshot = encodeProjects(projects)
    writeCopy(file, text, log)
  }
  const report = (error: unknown): void => {
    const message = 'the projects were not read from Postgres'
    if (isTransient(error)) log.debug({ err: error }, message)
    else log.error({ err: error }, message)
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
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await listening.close()
  }
  return { snapshot: () => snapshot, lookUp, close }
}

async function loadProjects(postgres: Postgres): Promise<CaptureProject[]> {
  const { rows } = await postgres.query<{ id: number; api_token: string; anonymize_ips: boolean }>(
    'select id, api_token, anonymize_ips from project order by id',
  )
  return rows.map((row) => ({
    id: row.id,
    apiKey: row.api_token,
    anonymizeIps: row.anonymize_ips,
    overQuota: false, // nobody is, before the persons consumer has counted a month's events
  }))
}

async function findKeys(postgres: Postgres, keys: readonly string[]): Promise<string[]> {
  const { rows } = await postgres.query<{ api_token: string }>(
    'select api_token from project where api_token = any($1)',
    [keys],
  )
  return rows.map((row) => row.api_token)
}
