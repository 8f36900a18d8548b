// What Postgres and Redshift have in common: each chunk is one transaction on a connection of its own, together with
// the row that says the database has the chunk, so the same chunk again changes nothing, even when the answer to its
// COMMIT was lost. When a run has all its chunks their rows are taken away: where an interval is exported again, its
// events are found by what they are known by. Persons and sessions, which take the place of their like anyway,
// need no such row: a chunk of them that comes again may hold more, and does what it would have done.

import type { LookupAddress } from 'node:dns'
import { systemClock } from '../lib/clock.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { isPublicAddress, parseAddress } from '../outbound/public-address.ts'
import { type Foreign, type ForeignAddress, openForeign } from '../postgres/foreign.ts'
import { sqlState } from '../postgres/pool.ts'
import { type Column, type Delivery, DeliveryError, type RunSubject, type StagedChunk } from './delivery.ts'
import { failingWith } from './delivery-failure.ts'
import type { DestinationConfig } from './destination.ts'
import {
  createMarkTable,
  createStage,
  keyOf,
  markTableName,
  repeatKeyOf,
  replaceRows,
  stageName,
  tableName,
} from './postgres-columns.ts'
import { postgresFailure } from './postgres-failure.ts'

/** How a database is written to. */
export interface Dialect {
  /** "The Postgres server", for sentences. */
  readonly what: string
  /** The statements that make a table of these columns, to be looked through by `key`. */
  create(table: string, columns: readonly Column[], key: readonly string[] | null): string
  /** Runs `statements`, which make `table`, where it is missing. */
  makeTable(foreign: Foreign, table: string, statements: string): Promise<void>
  /** The statement that keeps others from writing to `table` until the transaction ends. */
  lock(table: string): string
  /** Adds a chunk's rows to `table`, in a transaction that is open. */
  write(foreign: Foreign, table: string, chunk: StagedChunk, signal: AbortSignal): Promise<void>
}

interface Parts {
  readonly config: DestinationConfig
  readonly run: RunSubject
  readonly outbound: Pick<Outbound, 'addressesOf'>
  readonly dialect: Dialect
}

const madeAlready = '23505'
/** A server that was left in the middle of a COMMIT ends it all the same. */
const lateSentence = 'An earlier attempt has delivered the chunk at this moment after all.'
/** Beyond this a statement is stuck: a chunk takes seconds. */
const statementMsMax = 300_000
/** What runs that never ended have left is taken away after this long. */
const markMsMax = 30 * 86_400_000

export function openDelivery({ config, run, outbound, dialect }: Parts): Delivery {
  const marks = markTableName(config)
  const failureOf = (error: unknown) => postgresFailure(dialect.what, error)
  const inTransaction = async (
    signal: AbortSignal,
    body: (foreign: Foreign) => Promise<void>,
  ): Promise<void> => {
    const foreign = await connect(config, outbound, signal)
    try {
      await foreign.query('begin')
      await foreign.query(`set local statement_timeout = ${statementMsMax}`)
      await foreign.query("set local timezone = 'UTC'")
      await body(foreign)
      await foreign.query('commit')
    } finally {
      await foreign.close()
    }
  }
  const hasMarks = keyOf(run) === null
  /** Says in the transaction that the database has the chunk; false when it had it before. */
  const mark = async (foreign: Foreign, index: number): Promise<boolean> => {
    await dialect.makeTable(foreign, marks, createMarkTable(marks))
    const { rowCount } = await foreign.query(
      `select 1 from ${marks} where run_id = $1 and chunk = $2::integer`,
      [run.runId, index],
    )
    if (rowCount > 0) return false
    await foreign
      .query(`insert into ${marks} (run_id, chunk, delivered_at) values ($1, $2::integer, $3::timestamptz)`, [
        run.runId,
        index,
        momentText(0),
      ])
      .catch((error: unknown) => {
        throw sqlState(error) === madeAlready ? new DeliveryError('temporary', lateSentence, error) : error
      })
    return true
  }
  const deliver: Delivery['deliver'] = (chunk, signal) =>
    inTransaction(signal, async (foreign) => {
      if (hasMarks && !(await mark(foreign, chunk.index))) return
      await writeChunk(foreign, tableName(config), run, dialect, chunk, signal)
    })
  const finish: Delivery['finish'] = async (chunks, signal) => {
    if (chunks.length === 0 || !hasMarks) return
    await inTransaction(signal, async (foreign) => {
      await foreign.query(`delete from ${marks} where run_id = $1 or delivered_at < $2::timestamptz`, [
        run.runId,
        momentText(-markMsMax),
      ])
    })
  }
  return {
    deliver: (chunk, signal) => failingWith(failureOf, signal, () => deliver(chunk, signal)),
    finish: (chunks, signal) => failingWith(failureOf, signal, () => finish(chunks, signal)),
    // Connections last for a chunk.
    async close() {},
  }
}

async function writeChunk(
  foreign: Foreign,
  table: string,
  run: RunSubject,
  dialect: Dialect,
  chunk: StagedChunk,
  signal: AbortSignal,
): Promise<void> {
  const { columns } = chunk
  const key = keyOf(run)
  await dialect.makeTable(foreign, table, dialect.create(table, columns, key))
  const known = key ?? repeatKeyOf(run)
  if (known === null) return await dialect.write(foreign, table, chunk, signal)
  // Two runs that replace the same person would both add theirs; and the last chunk of a run that was stopped may be
  // in the middle of its COMMIT still.
  await foreign.query(dialect.lock(table))
  await foreign.query(createStage(table, columns))
  await dialect.write(foreign, stageName, chunk, signal)
  for (const statement of replaceRows(table, columns, known)) await foreign.query(statement)
}

/** A moment from now. Not the server's own: Redshift has no clock for statements that write. */
function momentText(fromNowMs: number): string {
  return new Date(systemClock.nowMs() + fromNowMs).toISOString()
}

/** Connects to the first of the host's addresses that answers. */
async function connect(
  config: DestinationConfig,
  outbound: Pick<Outbound, 'addressesOf'>,
  signal: AbortSignal,
): Promise<Foreign> {
  const host = String(config.host)
  const port = Number(config.port)
  const errors: unknown[] = []
  for (const address of await outbound.addressesOf(host, port)) {
    try {
      return await openForeign(foreignAddress(config, host, port, address), signal)
    } catch (error) {
      // Whoever answers, answers for all.
      if (signal.aborted || sqlState(error) !== null) throw error
      errors.push(error)
    }
  }
  throw errors[0]
}

function foreignAddress(
  config: DestinationConfig,
  host: string,
  port: number,
  { address }: LookupAddress,
): ForeignAddress {
  const parsed = parseAddress(address)
  return {
    host,
    port,
    address,
    user: String(config.user),
    password: String(config.password),
    database: String(config.database),
    checksCertificate: config.has_self_signed_cert !== true,
    // An operator has opened this network; over the internet a password is never sent in clear.
    allowsClear: parsed !== null && !isPublicAddress(parsed),
  }
}
