// The first start makes an organization, its owner, a project and a key of each kind, so that a fresh server can be
// used at once.
//
// The values are chosen and written to DATA_DIR/bootstrap.json (0600, on disk) before anything is inserted, and the
// inserts take them from there. A crash in between loses no key: the next start finds the file and an empty database
// and goes on with the same values. A database that has ever had a user is never touched.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashKey, makeKey, maskKey } from '../api/keys.ts'
import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import type { Postgres, Session } from '../postgres/pool.ts'
import { replaceFile } from '../replace-file.ts'

/** What bootstrap.json holds. */
export interface BootstrapValues {
  readonly organization_id: string
  readonly project_id: number
  readonly project_api_key: string
  readonly personal_api_key: string
  readonly email: string
}

export interface Bootstrap {
  /** True when this start has made everything: the keys are to be shown, this once. */
  readonly created: boolean
  /** Null when the database was filled by somebody else. */
  readonly values: BootstrapValues | null
}

interface BootstrapOptions {
  readonly postgres: Postgres
  readonly dataDir: string
  readonly config: Pick<Config, 'bootstrapProjectApiKey' | 'bootstrapPersonalApiKey' | 'bootstrapEmail'>
}

const fileName = 'bootstrap.json'
/** Two first starts on one database take turns. */
const lockId = 7_063_001

/** What the texts of the file look like. */
const patterns: Readonly<Record<Exclude<keyof BootstrapValues, 'project_id'>, RegExp>> = {
  organization_id: /^[0-9a-f-]{36}$/,
  project_api_key: /^phc_/,
  personal_api_key: /^phx_/,
  email: /./s,
}

/**
 * Fills an empty database; any other is left alone. The schema must be up to date.
 * Errors: postgres_unavailable (call again), data_dir_unusable when the file cannot be understood.
 */
export async function bootstrap(options: BootstrapOptions): Promise<Bootstrap> {
  const { postgres, dataDir, config } = options
  const file = join(dataDir, fileName)
  const earlier = readBootstrap(dataDir)
  return postgres.transaction(async (session) => {
    await session.query('select pg_advisory_xact_lock($1)', [lockId])
    const { rows } = await session.query<{ empty: boolean }>(
      'select not exists (select from organization) and not exists (select from app_user) as empty',
    )
    if (rows[0]?.empty !== true) return { created: false, values: earlier }
    const values: BootstrapValues = {
      organization_id: earlier?.organization_id ?? randomUUID(),
      project_id: earlier?.project_id ?? (await nextProjectId(session)),
      project_api_key: config.bootstrapProjectApiKey ?? earlier?.project_api_key ?? makeKey('phc_'),
      personal_api_key: config.bootstrapPersonalApiKey ?? earlier?.personal_api_key ?? makeKey('phx_'),
      email: config.bootstrapEmail,
    }
    replaceFile(file, `${JSON.stringify(values, null, 2)}\n`)
    await insertAll(session, values)
    return { created: true, values }
  })
}

/**
 * What the first start has left in `dataDir`; null when another database was there before.
 * Errors: data_dir_unusable for a file that cannot be understood.
 */
export function readBootstrap(dataDir: string): BootstrapValues | null {
  const file = join(dataDir, fileName)
  if (!existsSync(file)) return null
  const text = readFileSync(file, 'utf8')
  const value = parseOrNull(text)
  if (isBootstrapValues(value)) return value
  const detail = `${file} is not what Spate wrote; restore it, or remove it when the database has an organization`
  throw new ServiceError('data_dir_unusable', { detail })
}

function isBootstrapValues(value: unknown): value is BootstrapValues {
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Readonly<Record<string, unknown>> // an object that came as JSON
  if (!Number.isInteger(fields.project_id) || Number(fields.project_id) < 1) return false
  return Object.entries(patterns).every(([name, pattern]) => {
    const field = fields[name]
    return typeof field === 'string' && pattern.test(field)
  })
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // the caller reports the file
  }
}

async function nextProjectId(session: Session): Promise<number> {
  const { rows } = await session.query<{ id: number }>(
    `select nextval(pg_get_serial_sequence('project', 'id')) as id`,
  )
  return rows[0]!.id // a select without from has one row
}

async function insertAll(session: Session, values: BootstrapValues): Promise<void> {
  await session.query('insert into organization (id, name, slug) values ($1, $2, $3)', [
    values.organization_id,
    'Default organization',
    'default-organization',
  ])
  await session.query('insert into project (id, uuid, organization_id, api_token) values ($1, $2, $3, $4)', [
    values.project_id,
    randomUUID(),
    values.organization_id,
    values.project_api_key,
  ])
  // A database restored or filled by hand may not have given out this id yet.
  await session.query(
    `select setval(sequence, greatest($1, nextval(sequence) - 1))
     from cast(pg_get_serial_sequence('project', 'id') as regclass) as sequence`,
    [values.project_id],
  )
  const user = await session.query<{ id: number }>(
    `insert into app_user (uuid, distinct_id, email, first_name, current_organization_id, current_project_id)
     values ($1, $2, $3, 'Owner', $4, $5) returning id`,
    [randomUUID(), randomUUID(), values.email, values.organization_id, values.project_id],
  )
  const userId = user.rows[0]!.id // an insert that returns has one row
  await session.query(
    'insert into membership (id, organization_id, user_id, level) values ($1, $2, $3, 15)',
    [randomUUID(), values.organization_id, userId],
  )
  await session.query(
    `insert into personal_api_key (id, user_id, label, secure_value, mask_value, scopes)
     values ($1, $2, 'First key', $3, $4, '{*}')`,
    [randomUUID(), userId, hashKey(values.personal_api_key), maskKey(values.personal_api_key)],
  )
}
