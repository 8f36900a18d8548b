// DuckDB loading a file of NDJSON by itself, the fastest way there is: explicit columns, all rows in one transaction,
// properties compressed by zstd, on one thread, commit and checkpoint included. A process of its own, so that it can
// run on the server's core; prints what it took as JSON.
//
//   node duckdb-load.js <file> <database>

import { statSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { machineMs } from './clock.ts'

export interface DuckdbLoad {
  readonly events: number
  readonly distinctEvents: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly diskBytes: number
}

const [file, database] = process.argv.slice(2)
if (file === undefined || database === undefined) throw new Error('a file and a database are needed')
console.log(JSON.stringify(await load(file, database)))

async function load(file: string, database: string): Promise<DuckdbLoad> {
  const instance = await DuckDBInstance.create(database, {
    threads: '1',
    storage_compatibility_version: 'latest',
  })
  const connection = await instance.connect()
  await connection.run(`
    create table event (uuid uuid not null, event varchar not null, distinct_id varchar not null,
      timestamp timestamptz not null, properties json using compression zstd not null)`)
  // The extension that reads JSON is part of the library; it is loaded by the first use.
  await connection.run(`select '{}'::json->>'a'`)
  const startMs = machineMs()
  const cpu = process.cpuUsage()
  await connection.run(
    `insert into event select uuid, event, distinct_id, timestamp, properties
     from read_ndjson($file, columns = {uuid: 'UUID', event: 'VARCHAR', distinct_id: 'VARCHAR',
       timestamp: 'TIMESTAMPTZ', properties: 'JSON'})`,
    { file },
  )
  await connection.run('checkpoint')
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (machineMs() - startMs) / 1000
  const read = await connection.runAndReadAll('select count(*), count(distinct uuid) from event')
  const [events, distinctEvents] = read.getRows()[0]!.map(Number)
  connection.closeSync()
  instance.closeSync()
  return {
    events: events!,
    distinctEvents: distinctEvents!,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    diskBytes: statSync(database).size,
  }
}
