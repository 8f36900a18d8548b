// The judgement on an export of everything: each event that was stored up to the run's boundary is in its files, or its
// table, exactly once and says what the store does. Both sides are DuckDB's: what it reads back, and its store.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { laneNumbers } from '../src/consumer/offset.ts'
import { decodeOffsets } from '../src/exports/boundary.ts'
import { lanes } from '../src/journal/journal.ts'
import { brokenCounts } from './load-verdict.ts'

export interface ArrivedVerdict {
  /** Of the store, up to the boundary. */
  readonly expected: number
  readonly missing: number
  readonly doubled: number
  readonly altered: number
  readonly uninvited: number
}

export interface ExportedFiles {
  keys(): Promise<string[]>
  object(key: string): Promise<Buffer>
}

interface Place {
  readonly dataDir: string
  readonly folder: string
}

/** As stored: `$group_N` comes to properties with `$groups` when they are exported, and prints them anew. */
const withoutGroups = [0, 1, 2, 3, 4].map((index) => `"$group_${index}":null`).join(',')
const properties = `case when contains(properties::varchar, '"$groups"')
  then json_merge_patch(properties::json, '{${withoutGroups}}')::varchar else properties::varchar end`
const contents = `hash(event, distinct_id, epoch_us(timestamp), elements_chain, ${properties})`

/** Compares the Parquet files below `<prefix>/` with the store of a server that has ended. `folder` is for one file. */
export async function judgeArrived(
  place: Place,
  files: ExportedFiles,
  { prefix, stretchEnd }: { readonly prefix: string; readonly stretchEnd: string },
): Promise<ArrivedVerdict> {
  return judge(place, stretchEnd, contents, async (connection) => {
    const path = join(place.folder, 'arrived.parquet')
    for (const key of (await files.keys()).filter((one) => isFileOf(prefix, one))) {
      writeFileSync(path, await files.object(key))
      await connection.run(`insert into arrived select uuid::uuid, ${contents} from read_parquet('${path}')`)
      rmSync(path)
    }
  })
}

/** Rows of a table as JSON, one a line: uuid, event, distinct_id, micros, elements_chain. */
export async function judgeTable(place: Place, lines: string, stretchEnd: string): Promise<ArrivedVerdict> {
  // The database prints JSON in its own way.
  const compared = 'hash(event, distinct_id, epoch_us(timestamp), elements_chain)'
  return judge(place, stretchEnd, compared, async (connection) => {
    const path = join(place.folder, 'arrived.jsonl')
    writeFileSync(path, lines)
    await connection.run(
      `insert into arrived select uuid, hash(event, distinct_id, micros, elements_chain)
       from read_json('${path}', format = 'newline_delimited', columns = {uuid: 'uuid', event: 'varchar',
         distinct_id: 'varchar', micros: 'bigint', elements_chain: 'varchar'})`,
    )
    rmSync(path)
  })
}

/** How many events the store has behind a boundary, but for those of this name. */
export async function countBehind(dataDir: string, stretchEnd: string, besides: string): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run(`attach '${join(dataDir, 'events.duckdb')}' as store (read_only)`)
    const read = await connection.runAndReadAll(
      `select count(*) from store.event where event <> '${besides}' and not (${isBefore(stretchEnd)})`,
    )
    return Number(read.getRows()[0]?.[0])
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

async function judge(
  { dataDir }: Place,
  stretchEnd: string,
  compared: string,
  load: (connection: DuckDBConnection) => Promise<void>,
): Promise<ArrivedVerdict> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run('create table arrived (uuid uuid, contents ubigint)')
    await load(connection)
    await connection.run(`attach '${join(dataDir, 'events.duckdb')}' as store (read_only)`)
    await connection.run(
      `create table expected as select uuid, ${compared} as contents from store.event
       where ${isBefore(stretchEnd)}`,
    )
    return await compare(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The broken promises of a verdict, one line each. */
export function brokenArrived(verdict: ArrivedVerdict): string[] {
  const names = {
    missing: 'stored events were not exported',
    doubled: 'events were exported more than once',
    altered: 'events were exported with other contents than are stored',
    uninvited: 'events were exported that are not stored before the boundary',
  } as const
  return brokenCounts(verdict, names)
}

function isFileOf(prefix: string, key: string): boolean {
  return key.startsWith(`${prefix}/`) && key.includes('.parquet')
}

function isBefore(stretchEnd: string): string {
  const end = decodeOffsets(stretchEnd)
  return lanes
    .map((lane) => {
      const { position, index } = end[lane]
      const isInside = `(position < ${position} or (position = ${position} and index < ${index}))`
      return `(lane = ${laneNumbers[lane]} and ${isInside})`
    })
    .join(' or ')
}

async function compare(connection: DuckDBConnection): Promise<ArrivedVerdict> {
  const read = await connection.runAndReadAll(
    `with each as (select uuid, count(*) as copies, min(contents) as least, max(contents) as most
       from arrived group by uuid)
     select (select count(*) from expected), count(*) filter (each.uuid is null),
       (select sum(copies - 1) from each), count(*) filter (least <> contents or most <> contents),
       count(*) filter (expected.uuid is null)
     from expected full join each on each.uuid = expected.uuid`,
  )
  const [expected = 0, missing = 0, doubled = 0, altered = 0, uninvited = 0] = (read.getRows()[0] ?? []).map(
    Number,
  )
  return { expected, missing, doubled, altered, uninvited }
}
