// A database with two organizations, their people and keys, and the management API over it.

import { join } from 'node:path'
import type { Test } from 'tap'
import { hashKey } from '../../src/api/keys.ts'
import type { Command } from '../../src/consumer/command.ts'
import type { EventFilter, EventPage } from '../../src/events/list.ts'
import type { FlagDefinitions } from '../../src/flags/definition.ts'
import { openFlagDefinitions } from '../../src/flags/definitions.ts'
import { type HttpServer, openHttpServer } from '../../src/http/server.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { openMailer } from '../../src/mail/mailer.ts'
import { type IngestionWarnings, openIngestionWarnings } from '../../src/management/ingestion-warnings.ts'
import { openProjectDeletions } from '../../src/management/project-deletions.ts'
import { openProjectKeys } from '../../src/management/project-keys.ts'
import { type ManagementOptions, managementRoutes } from '../../src/management/routes.ts'
import { openOutbound } from '../../src/outbound/outbound.ts'
import type { Postgres, Session } from '../../src/postgres/pool.ts'
import { makeSealer } from '../../src/sealing/sealer.ts'
import { keysOf } from '../sealing/keys.ts'
import { freshPostgres, silentLog as log } from '../support/postgres.ts'

export const ids = {
  /** The organization of member, administrator and owner. */
  ours: '00000000-0000-4000-8000-00000000000a',
  theirs: '00000000-0000-4000-8000-00000000000b',
  nobodys: '00000000-0000-4000-8000-00000000000c',
  ourProject: 1,
  ourOtherProject: 2,
  theirProject: 3,
} as const

const people = [
  { id: 1, name: 'member', organization: ids.ours, level: 1 },
  { id: 2, name: 'administrator', organization: ids.ours, level: 8 },
  { id: 3, name: 'owner', organization: ids.ours, level: 15 },
  { id: 4, name: 'stranger', organization: ids.theirs, level: 15 },
]

/** Fills `postgres`. Each person has the key `phx_<name>` with all scopes. */
export async function fillTenants(postgres: Postgres): Promise<void> {
  await postgres.query(
    `insert into organization (id, name, slug) values ($1, 'Ours', 'ours'), ($2, 'Theirs', 'theirs')`,
    [ids.ours, ids.theirs],
  )
  await postgres.query(
    `insert into project (id, uuid, organization_id, api_token) values
     (1, gen_random_uuid(), $1, 'phc_1'), (2, gen_random_uuid(), $1, 'phc_2'), (3, gen_random_uuid(), $2, 'phc_3')`,
    [ids.ours, ids.theirs],
  )
  await postgres.query(`select setval(pg_get_serial_sequence('project', 'id'), 3)`)
  for (const { id, name, organization, level } of people) {
    await postgres.query(
      `insert into app_user (id, uuid, distinct_id, email, current_organization_id, current_project_id)
       overriding system value values ($1, gen_random_uuid(), $2, $2 || '@spate.example', $3, $4)`,
      [id, name, organization, organization === ids.ours ? ids.ourProject : ids.theirProject],
    )
    await postgres.query(
      'insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, $2, $3)',
      [organization, id, level],
    )
    await addKey(postgres, `phx_${name}`, id)
  }
  await postgres.query(`select setval(pg_get_serial_sequence('app_user', 'id'), 4)`)
}

interface KeyLimits {
  readonly scopes?: readonly string[]
  readonly organizations?: readonly string[]
  readonly projects?: readonly number[]
  readonly expiresAt?: string | null
}

export async function addKey(
  postgres: Postgres,
  key: string,
  userId: number,
  limits: KeyLimits = {},
): Promise<void> {
  const { scopes = ['*'], organizations = [], projects = [], expiresAt = null } = limits
  await postgres.query(
    `insert into personal_api_key
       (id, user_id, label, secure_value, mask_value, scopes, scoped_organizations, scoped_teams, expires_at)
     values ($1, $2, 'test', $3, 'phx_...', $4, $5, $6, $7)`,
    [key, userId, hashKey(key), scopes, organizations, projects, expiresAt],
  )
}

export interface World {
  readonly postgres: Postgres
  readonly warnings: IngestionWarnings
  readonly server: HttpServer
  readonly clock: { ms: number }
  readonly definitions: FlagDefinitions
  /** What the list of events was asked for, and what it answers next. */
  readonly asked: EventFilter[]
  page: EventPage
  /** What its routes were made of. */
  readonly management: ManagementOptions
  /** What was asked of the stores. */
  readonly commands: Command[]
  get(path: string, key?: string, method?: string): Promise<Answer>
  /** Sends a JSON body; text is sent as it is. */
  send(method: string, path: string, body: unknown, key?: string): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The answer to input that is not valid. */
export function validationError(code: string, detail: string, attr: string | null): Partial<Answer> {
  return { status: 400, text: JSON.stringify({ type: 'validation_error', code, detail, attr }) }
}

/** The JSON of an answer. */
export function jsonOf(answer: Answer) {
  return JSON.parse(answer.text)
}

/** What a test may put in place of what the world has. */
type WorldOptions = Partial<
  Pick<ManagementOptions, 'events' | 'geoip' | 'log' | 'mailer' | 'outbound' | 'siteUrl'>
> & {
  /** Told each statement of a request, but for begin and commit. */
  readonly onStatement?: (sql: string) => void
}

function watched(postgres: Postgres, onStatement: (sql: string) => void): Postgres {
  const of = <S extends Session>(session: S): S => ({
    ...session,
    query: <Row extends object>(sql: string, params?: readonly unknown[]) => {
      onStatement(sql)
      return session.query<Row>(sql, params)
    },
  })
  return { ...of(postgres), transaction: (body) => postgres.transaction((session) => body(of(session))) }
}

/** Without a name server, unless `options` bring one. */
export async function openWorld(t: Test, options: WorldOptions = {}): Promise<World> {
  const { onStatement = () => {}, ...replaced } = options
  const postgres = watched(await freshPostgres(t), onStatement)
  await fillTenants(postgres)
  const moving = { ms: Date.UTC(2024, 4, 1, 12) }
  const clock: Clock = { nowMs: () => moving.ms, monotonicMs: () => moving.ms }
  const warnings = openIngestionWarnings({ postgres, clock, log, flushIntervalMs: 1_000_000 })
  t.teardown(() => warnings.close())
  const asked: EventFilter[] = []
  const events = {
    listEvents: async (filter: EventFilter): Promise<EventPage> => {
      asked.push(filter)
      return world.page
    },
    query: async () => ({ columns: [], rows: [] }),
    select: async () => ({ columns: [], types: [], rowsText: '[]', rowCount: 0, hasMore: false }),
    selectParquet: async () => new Uint8Array(),
  }
  const commands: Command[] = []
  const carryOut = async (command: Command): Promise<void> => {
    commands.push(command)
  }
  const deletions = openProjectDeletions({ postgres, commands: { carryOut }, clock, log })
  t.teardown(() => deletions.close())
  const projects = await openProjectKeys({ postgres, file: join(t.testdir(), 'keys'), clock, log })
  t.teardown(() => projects.close())
  const definitions = await openFlagDefinitions({ postgres, file: join(t.testdir(), 'definitions'), log })
  t.teardown(() => definitions.close())
  const siteUrl = 'https://spate.example'
  const management: ManagementOptions = {
    postgres,
    events,
    mirror: { waitUntilMirrored: async () => {} },
    warnings,
    commands: { carryOut },
    outbound: openOutbound({ allow: '192.0.2.0/24', dnsServers: '127.0.0.1:1' }),
    mailer: openMailer({ transport: null, log }),
    sealer: makeSealer(keysOf('a'), log),
    deletions,
    secret: new Uint8Array(32),
    projects,
    definitions,
    geoip: null,
    siteUrl,
    trustedProxies: null,
    clock,
    log,
    ...replaced,
  }
  const routes = managementRoutes(management)
  const server = await openHttpServer({ host: '127.0.0.1', port: 0, routes, log })
  t.teardown(() => server.closeNow())
  const get: World['get'] = async (path, key = 'phx_member', method = 'GET') => {
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
    })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
  const send: World['send'] = async (method, path, body, key = 'phx_owner') => {
    const reply = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
  const page: EventPage = { events: [], next: null }
  const world: World = {
    postgres,
    warnings,
    server,
    clock: moving,
    definitions,
    asked,
    page,
    commands,
    management,
    get,
    send,
  }
  return world
}
