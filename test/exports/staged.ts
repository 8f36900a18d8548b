// Staging files as a run writes them, for the tests of destinations.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Test } from 'tap'
import type { Column, RunSubject, StagedChunk, StagedFormat } from '../../src/exports/delivery.ts'
import type { DestinationConfig } from '../../src/exports/destination.ts'
import { readConfig } from '../../src/exports/destination.ts'
import type { BuiltType } from '../../src/exports/destination-keys.ts'
import { openOutbound } from '../../src/outbound/outbound.ts'

export const columns: readonly Column[] = [
  { name: 'uuid', type: 'uuid' },
  { name: 'event', type: 'text' },
  { name: 'distinct_id', type: 'text' },
  { name: 'properties', type: 'json' },
  { name: 'elements_chain', type: 'text' },
  { name: 'timestamp', type: 'timestamp' },
  { name: 'team_id', type: 'bigint' },
  { name: 'score', type: 'double' },
  { name: 'is_late', type: 'boolean' },
]

/** Three events with what is awkward in files: quotes, line feeds, commas, empty texts, nulls, long numbers. */
export const eventRows = [
  {
    uuid: '018f3c80-0000-7000-8000-000000000001',
    event: 'signed "up", twice',
    distinct_id: 'ada\nlovelace',
    properties: '{"n":12345678901234567890,"text":"a,\\"b\\"\\n ü 🐘","nested":{"a":[1,2.5,null]}}',
    elements_chain: 'a.btn:text="Go"',
    timestamp: '2024-05-01 12:00:00.123456',
    team_id: '9007199254740993',
    score: 0.1,
    is_late: true,
  },
  {
    uuid: '018f3c80-0000-7000-8000-000000000002',
    event: '$pageview',
    distinct_id: '',
    properties: '{}',
    elements_chain: '',
    timestamp: '1969-12-31 23:59:59.000001',
    team_id: '-1',
    score: null,
    is_late: false,
  },
  {
    uuid: '018f3c80-0000-7000-8000-000000000003',
    event: 'null',
    distinct_id: 'NULL',
    properties: '{"$ip":"1.2.3.4","$set":{"plan":"free"}}',
    elements_chain: null,
    timestamp: '9999-12-31 23:59:59.999999',
    team_id: '0',
    score: 1e300,
    is_late: null,
  },
] as const

export const subject: RunSubject = {
  exportId: '018f3c80-0000-7000-8000-00000000aaaa',
  runId: '018f3c80-0000-7000-8000-00000000bbbb',
  projectId: 1,
  model: 'events',
  startMs: Date.UTC(2024, 4, 1, 11),
  endMs: Date.UTC(2024, 4, 1, 12),
  isBackfill: false,
  mayRepeat: false,
  earlierChunkCount: 0,
  hogqlQuery: null,
}

export const never = new AbortController().signal

let instance: Promise<DuckDBInstance> | null = null

/** Runs SQL in DuckDB; values come as JSON has them. */
export async function duckdb(sql: string): Promise<Record<string, unknown>[]> {
  instance ??= DuckDBInstance.create(':memory:')
  const connection = await (await instance).connect()
  try {
    await connection.run("set TimeZone = 'UTC'")
    // Rows of objects are what this reader is for.
    return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[]
  } finally {
    connection.closeSync()
  }
}

/** A folder that goes with the test. */
export function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'spate-exports-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Stages `eventRows`, or what `select` yields, with the columns above. */
export async function stage(
  t: Test,
  format: StagedFormat,
  select = selectOf(format.kind),
): Promise<StagedChunk> {
  const path = join(folder(t), 'chunk')
  const name = { parquet: 'parquet', jsonl: 'json', csv: 'csv, header true' }[format.kind]
  const compression = format.compression ?? 'uncompressed'
  await duckdb(`copy (${select}) to '${path}' (format ${name}, compression ${compression})`)
  const [counted] = await duckdb(`select count(*)::integer as n from (${select})`)
  return {
    index: 0,
    path,
    bytes: statSync(path).size,
    recordCount: Number(counted?.n),
    columns,
    isLast: true,
  }
}

function selectOf(kind: StagedFormat['kind']): string {
  const uuid = kind === 'parquet' ? 'varchar' : 'uuid'
  const json = kind === 'parquet' ? 'varchar' : 'json'
  const time = (text: string) =>
    kind === 'jsonl'
      ? `'${text.replace(' ', 'T')}Z'`
      : kind === 'csv'
        ? `timestamptz '${text}+00'`
        : `timestamp '${text}'`
  const literal = (value: unknown) => (value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`)
  return eventRows
    .map(
      (row) => `select ${literal(row.uuid)}::${uuid} as uuid, ${literal(row.event)} as event,
        ${literal(row.distinct_id)} as distinct_id, ${literal(row.properties)}::${json} as properties,
        ${literal(row.elements_chain)}::varchar as elements_chain, ${time(row.timestamp)} as timestamp,
        ${row.team_id}::bigint as team_id, ${literal(row.score)}::double as score, ${row.is_late}::boolean as is_late`,
    )
    .join(' union all ')
}

/** The guard of outbound calls with loopback open, or with what `allow` says. */
export function outboundFor(t: Test, allow: string | null = '127.0.0.1', dnsServers: string | null = null) {
  const outbound = openOutbound({ allow, dnsServers })
  t.teardown(() => outbound.close())
  return outbound
}

export function config(type: BuiltType, given: Readonly<Record<string, unknown>>): DestinationConfig {
  return readConfig(type, given)
}
