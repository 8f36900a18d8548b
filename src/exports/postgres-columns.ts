// Tables of other people's databases: how names are written, and which types columns get in a table that an export
// makes. Pure.

import type { Column, ColumnType, RunSubject } from './delivery.ts'
import type { DestinationConfig } from './destination.ts'

export type ColumnTypes = Readonly<Record<ColumnType, string>>

export const postgresTypes: ColumnTypes = {
  text: 'text',
  json: 'jsonb',
  timestamp: 'timestamptz',
  uuid: 'uuid',
  bigint: 'bigint',
  double: 'double precision',
  boolean: 'boolean',
}

/** Redshift's TEXT is 256 characters; this is the longest it has, in bytes. */
export const redshiftTextBytesMax = 65_535
const redshiftText = `varchar(${redshiftTextBytesMax})`

/** With `properties_data_type` super, JSON is SUPER; else it is text. */
export function redshiftTypes({ properties_data_type }: DestinationConfig): ColumnTypes {
  return {
    ...postgresTypes,
    text: redshiftText,
    json: properties_data_type === 'super' ? 'super' : redshiftText,
    uuid: 'varchar(36)',
  }
}

/** The table of a config, its schema before it. */
export function tableName({ schema, table_name }: DestinationConfig): string {
  return `${quoted(String(schema))}.${quoted(String(table_name))}`
}

/** The table that remembers which chunks a database has, in the schema of a config. */
export function markTableName({ schema }: DestinationConfig): string {
  return `${quoted(String(schema))}.spate_export_chunk`
}

/** Statement that makes the table of these columns where it is missing. */
export function createTable(table: string, columns: readonly Column[], types: ColumnTypes): string {
  const list = columns.map(({ name, type }) => `${quoted(name)} ${types[type]}`)
  return `create table if not exists ${table} (${list.join(', ')})`
}

/** Statement that makes the table of chunks where it is missing. */
export function createMarkTable(table: string): string {
  return `create table if not exists ${table} (
    run_id varchar(64) not null, chunk integer not null, delivered_at timestamptz not null, primary key (run_id, chunk)
  )`
}

/**
 * The columns by which a row takes the place of an older one; null for rows that are only added. Events happen once;
 * persons and sessions are exported whenever they have changed. A query's columns are its own.
 */
export function keyOf({
  model,
  hogqlQuery,
}: Pick<RunSubject, 'model' | 'hogqlQuery'>): readonly string[] | null {
  if (model === 'events' || hogqlQuery !== null) return null
  return ['team_id', model === 'persons' ? 'distinct_id' : 'session_id']
}

/** What an event is known by, as where duplicates are recognised. */
const eventKey = ['team_id', 'uuid', 'event', 'distinct_id'] as const

/**
 * The columns by which a row is known that an earlier run may have delivered; null where every row is new, and for a
 * query's rows, which nothing tells apart.
 */
export function repeatKeyOf({
  model,
  hogqlQuery,
  mayRepeat,
}: Pick<RunSubject, 'model' | 'hogqlQuery' | 'mayRepeat'>): readonly string[] | null {
  return mayRepeat && model === 'events' && hogqlQuery === null ? eventKey : null
}

/** Where the rows of a chunk wait that takes the place of others; gone with the connection. */
export const stageName = 'spate_chunk'

/** Statement that makes the waiting place, with the types that `table` has. */
export function createStage(table: string, columns: readonly Column[]): string {
  return `create temporary table ${stageName} as select ${columnList(columns)} from ${table} where false`
}

/** Says since when a row is as it is. */
const ageName = '_inserted_at'

/**
 * Statements that put the waiting rows in the place of those with the same key, except where the waiting ones are
 * older: a run of an earlier interval may come late.
 */
export function replaceRows(table: string, columns: readonly Column[], key: readonly string[]): string[] {
  const same = key.map((name) => `${table}.${quoted(name)} = ${stageName}.${quoted(name)}`).join(' and ')
  const list = columnList(columns)
  const older = `${stageName}.${quoted(ageName)} < ${table}.${quoted(ageName)}`
  const hasAge = columns.some(({ name }) => name === ageName)
  return [
    ...(hasAge ? [`delete from ${stageName} using ${table} where ${same} and ${older}`] : []),
    `delete from ${table} using ${stageName} where ${same}`,
    `insert into ${table} (${list}) select ${list} from ${stageName}`,
  ]
}

export function columnList(columns: readonly Column[]): string {
  return columns.map(({ name }) => quoted(name)).join(', ')
}

/** A name, whatever is in it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
