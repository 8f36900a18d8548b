// The definitions of all projects, in memory: read from Postgres at the start, again within moments of a change
// (notification `definitions_changed`, which names the project), whole after every reconnection, and every minute in
// case something was missed.
//
// A copy on disk lets evaluation go on through a restart while Postgres is down: definitions.snapshot, JSON of
// [project id, definitions][] (checked-copy.ts). It is at most a second behind.

import { readCopy, writeCopy } from '../checked-copy.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { isTransient, type Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import type { FlagDefinitions, ProjectDefinitions } from './definition.ts'
import { type DefinitionsRow, loadDefinitions, parseDefinitions } from './definition-rows.ts'

export interface OpenFlagDefinitions extends FlagDefinitions {
  close(): Promise<void>
}

interface FlagDefinitionsOptions {
  readonly postgres: Postgres
  /** DATA_DIR/definitions.snapshot */
  readonly file: string
  readonly log: Log
}

interface Known {
  readonly text: string
  readonly definitions: ProjectDefinitions
}

const reloadMs = 60_000
/** The copy is written whole, at most this often. */
const copyMs = 1_000
const changeChannel = 'definitions_changed'

/** Opens the set: from Postgres, else from the copy on disk, else empty. Never fails because Postgres is down. */
export async function openFlagDefinitions(options: FlagDefinitionsOptions): Promise<OpenFlagDefinitions> {
  const { postgres, file, log } = options
  const known = readKnown(file, log)
  /** Projects to be read again; null for all of them. */
  let due: Set<number> | null = null

  const load = async (): Promise<void> => {
    const asked = due
    due = new Set()
    if (asked?.size === 0) return
    try {
      const rows = await loadDefinitions(postgres, asked && [...asked])
      if (replace(known, rows, asked ?? new Set(known.keys()))) copy.schedule()
    } catch (error) {
      due = null
      const message = 'the definitions of flags were not read from Postgres'
      if (isTransient(error)) log.debug({ err: error }, message)
      else log.error({ err: error }, message)
    }
  }
  const copy = laterOnce(() => writeCopy(file, textOf(known), log))
  const reload = singleFlight(load)
  const reloadAll = (): Promise<void> => {
    due = null
    return reload()
  }
  const onNotify = (payload: string | null): void => {
    if (payload === null) due = null
    else due?.add(Number(payload))
    void reload()
  }

  await reload()
  const listening = postgres.listen(changeChannel, onNotify)
  const timer = setInterval(reloadAll, reloadMs).unref()
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await listening.close()
    copy.flush()
  }
  return { of: (projectId) => known.get(projectId)?.definitions ?? null, close }
}

/** Puts `rows` in the place of what is known of the projects `asked`. True when that changed anything. */
function replace(known: Map<number, Known>, rows: readonly DefinitionsRow[], asked: Set<number>): boolean {
  const gone = new Set(asked)
  let isChanged = false
  for (const { projectId, text } of rows) {
    gone.delete(projectId)
    // What has not changed keeps its objects, and whatever was derived from them.
    if (known.get(projectId)?.text === text) continue
    known.set(projectId, { text, definitions: parseDefinitions(text) })
    isChanged = true
  }
  for (const projectId of gone) isChanged = known.delete(projectId) || isChanged
  return isChanged
}

function readKnown(file: string, log: Log): Map<number, Known> {
  // Written by this file, from rows.
  const stored = JSON.parse(readCopy(file, log) ?? '[]') as [projectId: number, definitions: object][]
  return new Map(
    stored.map(([projectId, definitions]) => {
      const text = JSON.stringify(definitions)
      return [projectId, { text, definitions: parseDefinitions(text) }]
    }),
  )
}

function textOf(known: ReadonlyMap<number, Known>): string {
  return `[${[...known].map(([projectId, { text }]) => `[${projectId},${text}]`).join(',\n')}]`
}

/** Runs `body` a while after it was first asked for, or when it is flushed. */
function laterOnce(body: () => void): { schedule(): void; flush(): void } {
  let timer: NodeJS.Timeout | null = null
  const run = (): void => {
    timer = null
    body()
  }
  return {
    schedule() {
      timer ??= setTimeout(run, copyMs).unref()
    },
    flush() {
      if (timer === null) return
      clearTimeout(timer)
      run()
    },
  }
}
