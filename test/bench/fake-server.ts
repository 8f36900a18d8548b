// The smallest server an oracle can judge: keeps events in memory, drops the ones it has, and writes them to a DuckDB
// file when it is told to. A test says what becomes of each request, and doctors what was stored.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'

interface SentEvent {
  readonly uuid: string
  readonly event: string
  readonly timestamp: string
  readonly properties: Record<string, unknown>
  readonly $set?: unknown
  readonly $set_once?: unknown
}

/** What happens to the connection of request `number` (from 1): an answer, or none after or before it was stored. */
type Mood = (number: number) => 'answer' | 'store silently' | 'forget silently' | 'unavailable'

export interface FakeServer {
  readonly port: number
  close(): void
  /** Writes what was stored to `dataDir`/events.duckdb and runs `sql` on it. */
  write(dataDir: string, sql?: string): Promise<void>
}

export async function startFakeServer(
  projectApiKey: string,
  mood: Mood = () => 'answer',
): Promise<FakeServer> {
  const rows = new Map<string, unknown[]>()
  let count = 0
  const store = (event: SentEvent, historical: boolean, position: number, index: number): void => {
    if (rows.has(event.uuid)) return
    const { $elements_chain: chain = '', ...rest } = event.properties
    const properties = {
      $ip: '127.0.0.1',
      ...rest,
      ...(event.$set === undefined ? {} : { $set: event.$set }),
      ...(event.$set_once === undefined ? {} : { $set_once: event.$set_once }),
    }
    const { uuid, event: name, timestamp } = event
    const text = JSON.stringify(properties)
    rows.set(uuid, [uuid, name, rest.distinct_id, timestamp, text, chain, historical, position, index])
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, events, historical } = read(await bodyOf(request), projectApiKey)
    const position = ++count * 1000
    const what = mood(count)
    if (what === 'unavailable') response.writeHead(503).end()
    if (what === 'forget silently') request.socket.destroy()
    if (what === 'unavailable' || what === 'forget silently') return
    for (const [index, event] of events.entries()) store(event, historical, position, index)
    if (what === 'store silently') request.socket.destroy()
    else response.writeHead(status, { 'content-type': 'application/json' }).end('{"status":"Ok"}')
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port, // a TCP server has an address with a port
    close: () => {
      server.closeAllConnections()
      server.close()
    },
    write: (dataDir, sql = '') => writeStore(join(dataDir, 'events.duckdb'), [...rows.values()], sql),
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function read(
  body: Buffer,
  projectApiKey: string,
): { status: number; events: SentEvent[]; historical: boolean } {
  try {
    const text = body[0] === 0x1f ? gunzipSync(body).toString() : body.toString()
    const { api_key: key, batch, historical_migration: historical = false, ...single } = JSON.parse(text)
    if (key !== projectApiKey) return { status: 401, events: [], historical }
    return { status: 200, events: batch ?? [single], historical }
  } catch {
    return { status: 400, events: [], historical: false }
  }
}

async function writeStore(path: string, rows: unknown[][], sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run(`
    create table event (project_id integer, uuid uuid, event varchar, distinct_id varchar, timestamp timestamptz,
      received_at timestamptz, properties json, elements_chain varchar, historical boolean, lane utinyint,
      position bigint, index uinteger);
    create table quarantine (project_id integer, uuid uuid)`)
  await connection.run(
    `insert into event
     select 1, r->>0, r->>1, r->>2, (r->>3)::timestamptz, (r->>3)::timestamptz, r->>4, r->>5, (r->>6)::boolean,
            (r->>6)::boolean::utinyint, (r->>7)::bigint, (r->>8)::uinteger
     from (select unnest(from_json($rows::json, '["json"]')) as r)`,
    { rows: JSON.stringify(rows) },
  )
  if (sql !== '') await connection.run(sql)
  connection.closeSync()
  instance.closeSync()
}
