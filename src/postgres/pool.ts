// Postgres as the other rooms see it: queries, transactions, notifications. Opening connects to nothing, so Spate
// starts and captures while Postgres is down; what needs it fails with postgres_unavailable until it is back.
//
// Values come as the API shows them: timestamptz as "2021-08-08T20:20:08.123456Z" (the fraction only when there is
// one), bigint as number (all of ours are below 2^53), json parsed, everything else as node-postgres does.

import pg from 'pg'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Log } from '../telemetry/log.ts'
import { type Listening, openListener } from './listener.ts'

/** Sends statements over one connection. */
export interface Session {
  /**
   * Errors: postgres_unavailable when the connection fails (whether the statement took effect is unknown); an error of
   * the statement itself is node-postgres's DatabaseError, its SQLSTATE in `code`.
   */
  query<Row extends object>(sql: string, params?: readonly unknown[]): Promise<QueryResult<Row>>
}

export interface QueryResult<Row> {
  readonly rows: Row[]
  /** Rows returned or changed. */
  readonly rowCount: number
}

/**
 * A connection held until it is released: for session locks and streams. The limit of a statement's time holds for
 * `query`; whoever needs longer sets statement_timeout and asks `client`.
 */
export interface HeldSession extends Session {
  /** The connection itself, for COPY streams. */
  readonly client: pg.PoolClient
  /** Gives the connection back, or closes it when it may be broken or still hold a lock. */
  release(reuse: boolean): void
}

export interface Postgres extends Session {
  /** Runs `body` in one transaction: committed when it resolves, rolled back when it throws. */
  transaction<T>(body: (session: Session) => Promise<T>): Promise<T>
  hold(): Promise<HeldSession>
  /**
   * Calls `onNotify` for each notification on `channel` with its payload, and with null whenever the connection has
   * been made (again), since notifications may have been missed before. Reconnects by itself until closed.
   */
  listen(channel: string, onNotify: (payload: string | null) => void): Listening
  /** Waits for running statements and closes all connections. What comes after is refused with `stopping`. */
  close(): Promise<void>
}

interface PostgresOptions {
  readonly connectionString: string
  readonly log: Log
  /** Connections at most; the embedded server allows 50 in all. */
  readonly connectionsMax?: number
  readonly statementMsMax?: number
  /**
   * Every statement is planned once for each connection, whatever its parameters: for pools of few statements that are
   * sent very often. Planning a read of partitioned tables takes ten times as long as running it.
   */
  readonly plansOnce?: boolean
}

const connectMsMax = 3_000
/** Only maintenance runs longer, and sets its own limit. */
const statementMsMaxDefault = 30_000
/** The server cuts a statement that takes too long. One that has gone silent is given up this much later. */
const answerMsMax = 1_000
const idleInTransactionMsMax = 60_000
const idleMsMax = 60_000

/** A plan stays with each connection that has sent its statement: of a list some 0.3 MB, 12 MB in all. */
const oftenMax = 40
const oftenSent = new Map<string, string>()

/**
 * Marks the text of a statement that comes with very many requests: each connection plans it a few times and then no
 * more, where a plan for any parameters is as good as one for these. Of texts that requests make, such as those of
 * filters, only the first few are marked. Returns the text.
 */
export function often(sql: string): string {
  if (!oftenSent.has(sql) && oftenSent.size < oftenMax) oftenSent.set(sql, `spate_often_${oftenSent.size}`)
  return sql
}

/** Opens a pool of connections; returns at once. */
export function openPostgres(options: PostgresOptions): Postgres {
  const statementMsMax = options.statementMsMax ?? statementMsMaxDefault
  const plansOnce = options.plansOnce ?? false
  const settings = clientSettings(options.connectionString, statementMsMax, plansOnce)
  const names = new Map<string, string>()
  const nameOf = (sql: string): string | null => {
    if (plansOnce && !names.has(sql)) names.set(sql, `spate_${names.size}`)
    return names.get(sql) ?? oftenSent.get(sql) ?? null
  }
  const pool = new pg.Pool({
    ...settings,
    max: options.connectionsMax ?? 10,
    idleTimeoutMillis: idleMsMax,
    allowExitOnIdle: true,
  })
  // An idle connection that breaks is dropped from the pool; without a listener it would end the process.
  pool.on('error', (error) => options.log.debug({ err: error }, 'an idle connection to Postgres broke'))
  let closed = false

  const hold = async (): Promise<HeldSession> => {
    if (closed) throw new ServiceError('stopping')
    const client = await pool.connect().catch((cause: unknown) => {
      throw unavailable(cause)
    })
    // A connection that breaks while it is held shows in the next statement.
    const ignore = (): void => {}
    client.on('error', ignore)
    const release = (reuse: boolean): void => {
      client.off('error', ignore)
      client.release(!reuse)
    }
    return {
      client,
      release,
      query: (sql, params = []) => send(client, nameOf(sql), sql, params, statementMsMax),
    }
  }
  const query = async <Row extends object>(
    sql: string,
    params?: readonly unknown[],
  ): Promise<QueryResult<Row>> => {
    const session = await hold()
    let reuse = false
    try {
      const result = await session.query<Row>(sql, params)
      reuse = true
      return result
    } catch (error) {
      reuse = error instanceof pg.DatabaseError
      throw error
    } finally {
      session.release(reuse)
    }
  }
  const transaction = async <T>(body: (session: Session) => Promise<T>): Promise<T> =>
    await inTransaction(await hold(), body)
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await pool.end()
  }
  const listen: Postgres['listen'] = (channel, onNotify) =>
    openListener({ settings, channel, onNotify, log: options.log })
  return { query, transaction, hold, listen, close }
}

/** True when a later attempt at the same statement may succeed: connection, conflict, resources, shutdown. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'postgres_unavailable'
  return error instanceof pg.DatabaseError && /^(08|53|57P|40001|40P01)/.test(error.code ?? '')
}

/** SQLSTATEs of a statement that was cut, gave way to others, or found no room: it may go well when sent again. */
const busyStates = ['57014', '40001', '40P01', '55P03', '53200', '53400']

/** True when the database could not carry a statement out for what else it had to do. */
export function isBusy(error: unknown): boolean {
  return busyStates.includes(sqlState(error) ?? '')
}

/** The SQLSTATE of a statement's error, or null when `error` is something else. */
export function sqlState(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? (error.code ?? null) : null
}

/** Whether a statement failed because another made the same table, or schema, at the same moment. */
export function isMadeTwice(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  // The loser of a race meets the other's row in a catalog, or the table itself.
  return error.code === '42P07' || (error.code === '23505' && error.schema === 'pg_catalog')
}

async function inTransaction<T>(session: HeldSession, body: (session: Session) => Promise<T>): Promise<T> {
  let reuse = false
  try {
    await session.query('begin')
    const result = await body(session)
    await session.query('commit')
    reuse = true
    return result
  } catch (error) {
    reuse = !isServiceError(error, 'postgres_unavailable') && (await rolledBack(session))
    throw error
  } finally {
    session.release(reuse)
  }
}

async function rolledBack(session: Session): Promise<boolean> {
  try {
    await session.query('rollback')
    return true
  } catch {
    return false // the connection is gone, and the transaction with it
  }
}

async function send<Row extends object>(
  client: pg.PoolClient,
  name: string | null,
  sql: string,
  params: readonly unknown[],
  statementMsMax: number,
): Promise<QueryResult<Row>> {
  const plain = { text: sql, values: [...params], query_timeout: statementMsMax + answerMsMax }
  const statement = name === null ? plain : { ...plain, name }
  try {
    const { rows, rowCount } = await client.query<Row>(statement)
    return { rows, rowCount: rowCount ?? 0 }
  } catch (error) {
    throw isConnectionFailure(error) ? unavailable(error) : error
  }
}

/** node-postgres reports a broken connection as an Error of no class of its own; a TypeError is a bug of the caller. */
function isConnectionFailure(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P|53300)/.test(error.code ?? '')
  return !(error instanceof TypeError)
}

function unavailable(cause: unknown): ServiceError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const detail = `The database is not reachable: ${reason}`
  return new ServiceError('postgres_unavailable', { detail, cause, retryAfterSeconds: 5 })
}

function clientSettings(
  connectionString: string,
  statementMsMax: number,
  plansOnce: boolean,
): pg.ClientConfig {
  const always = '-c TimeZone=UTC -c DateStyle=ISO'
  return {
    connectionString,
    application_name: 'spate',
    connectionTimeoutMillis: connectMsMax,
    statement_timeout: statementMsMax,
    idle_in_transaction_session_timeout: idleInTransactionMsMax,
    keepAlive: true,
    options: plansOnce ? `${always} -c plan_cache_mode=force_generic_plan` : always,
    types: { getTypeParser },
  }
}

// node-postgres asks by type and format; its own answer for everything but two types.
function getTypeParser(type: number, format?: 'text' | 'binary'): ReturnType<typeof pg.types.getTypeParser> {
  if (type === pg.types.builtins.INT8) return Number
  if (type === pg.types.builtins.TIMESTAMPTZ) return isoTimestamp
  return pg.types.getTypeParser(type, format as 'text') // we only ever ask for text
}

/** Turns "2021-08-08 20:20:08.12+00" into "2021-08-08T20:20:08.120000Z". */
export function isoTimestamp(text: string): string {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text)
  if (parts === null) return text // infinity, or a year of five digits
  const fraction = parts[3] === undefined ? '' : `.${parts[3].padEnd(6, '0')}`
  return `${parts[1]}T${parts[2]}${fraction}Z`
}
