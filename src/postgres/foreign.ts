// One connection to a Postgres that is not ours, whose address somebody gave us: it goes to the address that was judged
// and never to the name, which could lead elsewhere by now. TLS still asks for the name. Nothing of this process's
// surroundings (PGHOST, PGPASSWORD, …) is used. Whatever goes wrong, close it: the server rolls back what was open.

import { isIP, Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { checkServerIdentity } from 'node:tls'
import pg from 'pg'
import copyStreams from 'pg-copy-streams'
import type { QueryResult, Session } from './pool.ts'

export interface ForeignAddress {
  /** What its certificate has to name. */
  readonly host: string
  /** The IP address to connect to. */
  readonly address: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** False: any certificate will do. */
  readonly checksCertificate: boolean
  /** True: a server that does not speak TLS is spoken to in clear. */
  readonly allowsClear: boolean
}

/** Errors are node-postgres's: DatabaseError with SQLSTATE in `code`, else what the socket said. */
export interface Foreign extends Session {
  /** Sends `source` to `COPY … FROM STDIN` and resolves with the number of rows. Aborting ends the connection. */
  copyIn(sql: string, source: Readable, signal: AbortSignal): Promise<number>
  close(): Promise<void>
}

const connectMsMax = 10_000
/** A server that says nothing for longer than its statements may take is gone. */
const silentMsMax = 330_000
/** Closing politely takes a round trip; a server that does not answer loses the socket. */
const closeMsMax = 1_000

/** Opens the connection. `signal` ends it whatever it does. */
export async function openForeign(
  address: ForeignAddress,
  signal: AbortSignal,
  limits = { connectMsMax, silentMsMax },
): Promise<Foreign> {
  try {
    return await connect(address, true, signal, limits)
  } catch (error) {
    if (!speaksNoTls(error)) throw error
    if (!address.allowsClear) throw noTls()
    return await connect(address, false, signal, limits)
  }
}

async function connect(
  to: ForeignAddress,
  withTls: boolean,
  signal: AbortSignal,
  limits: { readonly connectMsMax: number; readonly silentMsMax: number },
): Promise<Foreign> {
  signal.throwIfAborted()
  const socket = new Socket()
  socket.setTimeout(limits.silentMsMax, () => socket.destroy(timedOut()))
  const client = new pg.Client({
    host: to.address,
    port: to.port,
    user: to.user,
    password: to.password,
    database: to.database,
    ssl: withTls ? tlsSettings(to) : false,
    stream: () => socket,
    application_name: 'spate',
    connectionTimeoutMillis: limits.connectMsMax,
    keepAlive: true,
    types: { getTypeParser: () => (text: string) => text },
  })
  // A connection that breaks shows in the next statement; without a listener it would end the process.
  client.on('error', () => {})
  const drop = (): void => {
    socket.destroy()
  }
  signal.addEventListener('abort', drop, { once: true })
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', drop)
    const late = setTimeout(drop, closeMsMax)
    // A connection that is gone already is as closed as it can be.
    await client.end().catch(() => {})
    clearTimeout(late)
    drop()
  }
  try {
    await client.connect()
  } catch (error) {
    await close()
    throw error
  }
  return {
    query: (sql, params) => send(client, sql, params ?? []),
    copyIn: (...all) => copy(client, ...all),
    close,
  }
}

async function send<Row extends object>(
  client: pg.Client,
  sql: string,
  params: readonly unknown[],
): Promise<QueryResult<Row>> {
  const { rows, rowCount } = await client.query<Row>(sql, [...params])
  return { rows, rowCount: rowCount ?? 0 }
}

async function copy(client: pg.Client, sql: string, source: Readable, signal: AbortSignal): Promise<number> {
  const target = client.query(copyStreams.from(sql))
  await pipeline(source, target, { signal })
  return target.rowCount
}

function tlsSettings({ host, checksCertificate }: ForeignAddress): pg.ClientConfig['ssl'] {
  return {
    rejectUnauthorized: checksCertificate,
    // TLS names servers by name only; a certificate may name an address.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  }
}

/** node-postgres says this in words alone. */
function speaksNoTls(error: unknown): boolean {
  return error instanceof Error && error.message === 'The server does not support SSL connections'
}

function noTls(): Error {
  return Object.assign(new Error('the server does not speak TLS'), { code: 'ERR_SSL_NOT_OFFERED' })
}

function timedOut(): Error {
  return Object.assign(new Error('the server has gone silent'), { code: 'ETIMEDOUT' })
}
