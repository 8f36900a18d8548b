// Flags, cohorts and their like, put into the database of a server under test, which hears of them by itself.

import type { Test } from 'tap'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { silentLog as log } from './postgres.ts'
import type { LocalServer } from './server.ts'
import { until } from './until.ts'

export interface StoredFlag {
  readonly key: string
  readonly filters: object
  readonly active?: boolean
  readonly ensureExperienceContinuity?: boolean
  readonly hasEncryptedPayloads?: boolean
  readonly evaluationRuntime?: 'server' | 'client' | 'all'
  readonly evaluationTags?: readonly string[]
}

/** The database of `server`; closed with the test. */
export function databaseOf(t: Test, server: LocalServer): Postgres {
  const postgres = openPostgres({ connectionString: server.databaseUrl, log })
  t.teardown(() => postgres.close())
  return postgres
}

/** Stores flags of the server's project and waits until it evaluates them. Returns their ids, in order. */
export async function defineFlags(
  server: LocalServer,
  postgres: Postgres,
  flags: readonly StoredFlag[],
): Promise<number[]> {
  const ids: number[] = []
  for (const flag of flags) {
    const { key, filters, active = true, ensureExperienceContinuity = false } = flag
    const { hasEncryptedPayloads = false, evaluationRuntime = 'all', evaluationTags = [] } = flag
    const { rows } = await postgres.query<{ id: number }>(
      `insert into feature_flag (project_id, key, filters, active, ensure_experience_continuity,
         has_encrypted_payloads, evaluation_runtime, evaluation_tags)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
      [
        server.projectId,
        key,
        JSON.stringify(filters),
        active,
        ensureExperienceContinuity,
        hasEncryptedPayloads,
        evaluationRuntime,
        evaluationTags,
      ],
    )
    ids.push(rows[0]!.id)
  }
  await heard(server, postgres)
  return ids
}

/** Waits until the server has heard of everything stored so far: notifications come in order. */
export async function heard(server: LocalServer, postgres: Postgres): Promise<void> {
  const key = `heard-${Math.random()}`
  await postgres.query(
    `insert into feature_flag (project_id, key, filters) values ($1, $2, '{"groups": []}')`,
    [server.projectId, key],
  )
  await until(async () => (await server.post('/flags/?v=2', ask(server))).text.includes(key))
  await postgres.query('delete from feature_flag where project_id = $1 and key = $2', [server.projectId, key])
  await until(async () => !(await server.post('/flags/?v=2', ask(server))).text.includes(key))
}

function ask(server: LocalServer): object {
  return { token: server.projectApiKey, distinct_id: 'nobody' }
}
