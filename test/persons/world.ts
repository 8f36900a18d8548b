// A database for tests of the persons, with the projects 1 and 2.

import type { Test } from 'tap'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { freshDatabase, silentLog } from '../support/postgres.ts'

export interface PersonsDatabase {
  readonly connectionString: string
  readonly postgres: Postgres
}

export async function personsDatabase(t: Test): Promise<PersonsDatabase> {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  await addProjects(postgres)
  return { connectionString, postgres }
}

/** Adds the projects 1 and 2 to an empty database. */
export async function addProjects(postgres: Postgres): Promise<void> {
  const id = '00000000-0000-4000-8000-000000000001'
  await postgres.query(`insert into organization (id, name, slug) values ($1, 'One', 'one')`, [id])
  await postgres.query(
    `insert into project (id, uuid, organization_id, api_token)
     select n, gen_random_uuid(), $1, 'phc_' || n from generate_series(1, 2) as n`,
    [id],
  )
}
