// The server that one would write first: node:http, JSON.parse, and a row at a time into DuckDB by its appender, or a
// request at a time into Postgres by one INSERT. No checks, no duplicates, no persons, no order. A process of its own.
//
//   node peer-server.js duckdb <database>
//   node peer-server.js postgres <folder>
//
// Tells its parent the port; a message "count" is answered with what is stored.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type DuckDBAppender, DuckDBInstance } from '@duckdb/node-api'
import pg from 'pg'
import { openEmbeddedPostgres } from '../src/postgres/embedded.ts'
import type { PeerCount } from './peer.ts'

interface SentEvent {
  readonly uuid: string
  readonly event: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
}

interface Store {
  /** Resolves when the events are committed. */
  add(events: readonly SentEvent[]): Promise<void>
  count(): Promise<PeerCount>
}

const countSql = 'select count(*) as events, count(distinct uuid) as distinct_events from event'
const postgresConnections = 10
const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} }

async function openDuckdb(path: string): Promise<Store> {
  const instance = await DuckDBInstance.create(path, { threads: '2' })
  const connection = await instance.connect()
  await connection.run(
    'create table event (uuid varchar, event varchar, distinct_id varchar, timestamp varchar, properties varchar)',
  )
  const appender = await connection.createAppender('event')
  return {
    add: async (events) => {
      for (const event of events) appendRow(appender, event)
      appender.flushSync()
    },
    count: async () => {
      const [events, distinctEvents] = (await connection.runAndReadAll(countSql)).getRows()[0]!.map(Number)
      return { events: events!, distinctEvents: distinctEvents! } // the query has two columns
    },
  }
}

function appendRow(appender: DuckDBAppender, { uuid, event, timestamp, properties }: SentEvent): void {
  appender.appendVarchar(uuid)
  appender.appendVarchar(event)
  appender.appendVarchar(String(properties.distinct_id))
  appender.appendVarchar(timestamp)
  appender.appendVarchar(JSON.stringify(properties))
  appender.endRow()
}

async function openPostgres(folder: string): Promise<Store> {
  const { connectionString } = await openEmbeddedPostgres({ dir: folder, log: silent })
  const pool = new pg.Pool({ connectionString, max: postgresConnections })
  await pool.query(
    'create table event (uuid uuid, event text, distinct_id text, timestamp timestamptz, properties jsonb)',
  )
  return {
    add: async (events) => {
      await pool.query(
        `insert into event select * from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::jsonb[])`,
        [
          events.map(({ uuid }) => uuid),
          events.map(({ event }) => event),
          events.map(({ properties }) => String(properties.distinct_id)),
          events.map(({ timestamp }) => timestamp),
          events.map(({ properties }) => JSON.stringify(properties)),
        ],
      )
    },
    count: async () => {
      const { rows } = await pool.query(countSql)
      return { events: Number(rows[0].events), distinctEvents: Number(rows[0].distinct_events) }
    },
  }
}

async function take(store: Store, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const text = request.headers['content-encoding'] === 'gzip' ? await promisify(gunzip)(bytes) : bytes
  const body = JSON.parse(text.toString())
  await store.add(body.batch ?? [body])
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"Ok"}')
}

const [kind, place] = process.argv.slice(2)
if (process.send !== undefined && place !== undefined) {
  const store = await (kind === 'duckdb' ? openDuckdb(place) : openPostgres(place))
  // Beside others, a connection may have no turn for longer than Node's five seconds.
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    take(store, request, response).catch(() => response.writeHead(500).end())
  })
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as { port: number }).port }) // a TCP server has an address with a port
  })
  process.on('message', () => void store.count().then((count) => process.send?.(count)))
  process.once('disconnect', () => process.exit(0))
}
