// A pool of node-postgres for a library that sends statements of its own. Whoever opens it ends it. Values come as
// node-postgres makes them, unlike those of `openPostgres`.

import pg from 'pg'
import type { Log } from '../telemetry/log.ts'

interface LentPoolOptions {
  readonly connectionString: string
  readonly connectionsMax: number
  readonly log: Log
}

const connectMsMax = 3_000
/** A server that has gone silent is given up, so that it cannot hold up a stop. */
const answerMsMax = 10_000

/** Opens a pool; connects to nothing yet. A connection that breaks is replaced by the next one that is asked for. */
export function openLentPool({ connectionString, connectionsMax, log }: LentPoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    application_name: 'spate',
    max: connectionsMax,
    connectionTimeoutMillis: connectMsMax,
    statement_timeout: answerMsMax,
    query_timeout: answerMsMax,
    keepAlive: true,
    allowExitOnIdle: true,
  })
  const broke = (err: Error): void => log.debug({ err }, 'a lent connection to Postgres broke')
  pool.on('error', broke)
  // One that breaks while it is in use shows in its next statement, and would end the process without a listener.
  pool.on('connect', (client) => client.on('error', broke))
  return pool
}
