// What is left of deleted projects: their rows go in the transaction of the request, their events and persons by a
// command in the journal. The transaction notes the project in project_deletion, so a kill before the command is in the
// journal only delays it.
//
// Capture hears of the deletion within moments, but requests that have passed its check of the key may still append.
// The command is therefore repeated when they are certainly over, and only then crossed off. Repeating it is harmless:
// a project's id is never given out again.

import type { Clock } from '../lib/clock.ts'
import { singleFlight } from '../lib/single-flight.ts'
import { isTransient, type Postgres, type Session } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import type { Commands } from './commands.ts'

export interface ProjectDeletions {
  /** Carries out what is noted. Never fails: what cannot be done now is done later. */
  carryOut(): Promise<void>
  close(): Promise<void>
}

interface ProjectDeletionsOptions {
  readonly postgres: Postgres
  readonly commands: Commands
  readonly clock: Clock
  readonly log: Log
}

/** Requests of the old key are over by then: none may take longer. */
const settledSeconds = 120
const repeatMs = 60_000

/** Deletes `projectIds` of the transaction's tenants. Call `carryOut` when it is committed. */
export async function deleteProjects(
  session: Session,
  projectIds: readonly number[],
  nowMs: number,
): Promise<void> {
  await session.query(
    `insert into project_deletion (project_id, deleted_at)
     select id, to_timestamp($2) from unnest($1::integer[]) id`,
    [projectIds, nowMs / 1000],
  )
  await session.query('delete from project where id = any ($1::integer[])', [projectIds])
}

/** Call `carryOut` when the database is ready: an earlier run may have left something. */
export function openProjectDeletions(options: ProjectDeletionsOptions): ProjectDeletions {
  const { postgres, commands, clock, log } = options
  const work = async (): Promise<void> => {
    const { rows } = await postgres.query<{ project_id: number; is_settled: boolean }>(
      `select project_id, deleted_at < to_timestamp($1) - make_interval(secs => $2) as is_settled
       from project_deletion order by project_id`,
      [clock.nowMs() / 1000, settledSeconds],
    )
    for (const { project_id, is_settled } of rows) {
      await commands.carryOut({ command: 'delete_project', projectId: project_id })
      if (is_settled) await postgres.query('delete from project_deletion where project_id = $1', [project_id])
    }
  }
  const attempt = (): Promise<void> =>
    work().catch((error: unknown) => {
      const message = 'deleted projects are not removed yet; it is tried again'
      if (isTransient(error)) log.debug({ err: error }, message)
      else log.warn({ err: error }, message)
    })
  let last = Promise.resolve()
  const flight = singleFlight(attempt)
  const carryOut = (): Promise<void> => {
    last = flight()
    return last
  }
  const timer = setInterval(carryOut, repeatMs).unref()
  return {
    carryOut,
    async close() {
      clearInterval(timer)
      await last
    },
  }
}
