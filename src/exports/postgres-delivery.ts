// What Postgres and Redshift have in common: each chunk is one transaction on a connection of its own, together with
// the row that says the database has the chunk, so the same chunk again changes nothing, even when the answer to its
// COMMIT was lost. When a run has all its chunks their rows are taken away.

import type { LookupAddress } from 'node:dns'
import { systemClock } from '../lib/clock.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { isPublicAddress, parseAddress } from '../outbound/public-address.ts'
import { type Foreign, type ForeignAddress, openForeign } from '../postgres/foreign.ts'
import { sqlState } from '../postgres/pool.ts'
import type { Delivery, RunSubject, StagedChunk } from './delivery.ts'
import { failingWith } from './delivery-failure.ts'
import type { DestinationConfig } from './destination.ts'
import { createMarkTable, markTableName } from './postgres-columns.ts'
import { postgresFailure } from './postgres-failure.ts'

/** How rows get into the table, in a transaction that is open. */
export type WriteChunk = (foreign: Foreign, chunk: StagedChunk, signal: AbortSignal) => Promise<void>

/** Runs `statement`, which makes `table` where it is missing. */
export type MakeTable = (foreign: Foreign, table: string, statement: string) => Promise<void>

interface Parts {
  readonly config: DestinationConfig
  readonly run: RunSubject
  readonly outbound: Pick<Outbound, 'addressesOf'>
  /** "The Postgres server", for sentences. */
  readonly what: string
  readonly makeTable: MakeTable
  readonly write: WriteChunk
}

/** Beyond this a statement is stuck: a chunk takes seconds. */
const statementMsMax = 300_000
/** What runs that never ended have left is taken away after this long. */
const markMsMax = 30 * 86_400_000

export function openDelivery({ config, run, outbound, what, makeTable, write }: Parts): Delivery {
  const marks = markTableName(config)
  const failureOf = (error: unknown) => postgresFailure(what, error)
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
  const deliver: Delivery['deliver'] = (chunk, signal) =>
    inTransaction(signal, async (foreign) => {
      await makeTable(foreign, marks, createMarkTable(marks))
      const { rowCount } = await foreign.query(
        `select 1 from ${marks} where run_id = $1 and chunk = $2::integer`,
        [run.runId, chunk.index],
      )
      if (rowCount > 0) return
      await foreign.query(
        `insert into ${marks} (run_id, chunk, delivered_at) values ($1, $2::integer, $3::timestamptz)`,
        [run.runId, chunk.index, momentText(0)],
      )
      await write(foreign, chunk, signal)
    })
  const finish: Delivery['finish'] = async (chunks, signal) => {
    if (chunks.length === 0) return
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
