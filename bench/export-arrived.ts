// The judgement on an export of everything: each event that was stored up to the run's boundary is in its files
// exactly once and says what the store does. Both sides are DuckDB's: what it reads back from Parquet, and its store.

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

const contents = 'hash(event, distinct_id, epoch_us(timestamp), elements_chain, properties::varchar)'

/** Compares the Parquet files below `<prefix>/` with the store of a server that has ended. `folder` is for one file. */
export async function judgeArrived(
  place: { readonly dataDir: string; readonly folder: string },
  files: ExportedFiles,
  { prefix, stretchEnd }: { readonly prefix: string; readonly stretchEnd: string },
): Promise<ArrivedVerdict> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run('create table arrived (uuid uuid, contents ubigint)')
    const path = join(place.folder, 'arrived.parquet')
    for (const key of (await files.keys()).filter((one) => isFileOf(prefix, one))) {
      writeFileSync(path, await files.object(key))
      await connection.run(`insert into arrived select uuid::uuid, ${contents} from read_parquet('${path}')`)
      rmSync(path)
    }
    await connection.run(`attach '${join(place.dataDir, 'events.duckdb')}' as store (read_only)`)
    await connection.run(
      `create table expected as select uuid, ${contents} as contents from store.event
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
