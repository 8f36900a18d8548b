// Rows of Postgres beside the events, for one query of people or one chunk of an export: persons, their ids and groups
// live there. Before it runs, the rows that it needs are copied into temporary tables of its own connection, which
// nobody else sees and which end with it.
//
// A page is one text a column, its values with the byte 30 between them, as events are loaded too. What senders choose
// travels as JSON, in which that byte is escaped.
//
// Measured with 200,000 persons of 300 bytes of properties, PostgreSQL 18, DuckDB 1.5.6, Node 20.20.2, two busy cores:
//                                    ms   of them filling   CPU ms of this process   MB of text   MB in DuckDB
//   one property of each           2,300       450                   650                 18            17
//   all properties                 2,100       700                 1,000                 67            66
//   as many distinct_ids             800       300                   380                 10             9
// A page as one text[] instead of a text a column took 7,000 ms of CPU: node-postgres reads arrays by the character.

import type { DuckDBConnection } from '@duckdb/node-api'

export const copiedTables = ['person', 'distinct_id', 'group'] as const
export type CopiedTable = (typeof copiedTables)[number]
/** What exports copy: whole rows of the model persons. No query of people can name it. */
export type TemporaryTable = CopiedTable | 'exported_person'

export interface CopiedPage {
  readonly table: TemporaryTable
  /** Texts in the order of the table's columns; none for a table without rows. */
  readonly columns: readonly string[]
}

interface Statements {
  readonly create: string
  /** $1 is the project; then come the columns. */
  readonly insert: string
}

const split = (parameter: number) => `unnest(string_split($${parameter}::varchar, chr(30)))`
const moment = (text: string) => `make_timestamptz(${text}::bigint)`
const plain = (json: string) => `json_extract_string(${json}, '$')`

/** Texts that may be missing; they are never empty otherwise. */
const orNull = (text: string) => `nullif(${text}, '')`

const statements: Readonly<Record<TemporaryTable, Statements>> = {
  person: {
    create: `create temp table copied_person
      (project_id integer, id uuid, created_at timestamptz, is_identified boolean, properties json)`,
    insert: `insert into copied_person
      select $1::integer, id::uuid, ${moment('created_at')}, is_identified = 't', properties
      from (select ${split(2)} as id, ${split(3)} as created_at, ${split(4)} as is_identified,
        ${split(5)} as properties)`,
  },
  distinct_id: {
    create: 'create temp table copied_distinct_id (project_id integer, distinct_id varchar, person_id uuid)',
    insert: `insert into copied_distinct_id
      select $1::integer, ${plain('distinct_id')}, person_id::uuid
      from (select ${split(2)} as distinct_id, ${split(3)} as person_id)`,
  },
  group: {
    create: `create temp table copied_group
      (project_id integer, index utinyint, key varchar, created_at timestamptz, properties json)`,
    insert: `insert into copied_group
      select $1::integer, index::utinyint, ${plain('key')}, ${moment('created_at')}, properties
      from (select ${split(2)} as index, ${split(3)} as key, ${split(4)} as created_at, ${split(5)} as properties)`,
  },
  exported_person: {
    create: `create temp table copied_exported_person
      (project_id integer, distinct_id varchar, person_id uuid, properties json, person_distinct_id_version bigint,
       person_version bigint, created_at timestamptz, changed_at timestamptz, is_deleted boolean)`,
    insert: `insert into copied_exported_person
      select $1::integer, ${plain('distinct_id')}, person_id::uuid, properties, id_version::bigint,
        ${orNull('version')}::bigint, ${moment(orNull('created_at'))}, ${moment('changed_at')}, is_deleted = 't'
      from (select ${split(2)} as distinct_id, ${split(3)} as person_id, ${split(4)} as properties,
        ${split(5)} as id_version, ${split(6)} as version, ${split(7)} as created_at, ${split(8)} as changed_at,
        ${split(9)} as is_deleted)`,
  },
}

/** Makes the temporary tables of a connection. */
export async function createCopies(
  connection: DuckDBConnection,
  tables: readonly TemporaryTable[],
): Promise<void> {
  for (const table of tables) await connection.run(statements[table].create)
}

/** Adds a page of a project's rows to its table. */
export async function fillCopy(
  connection: DuckDBConnection,
  projectId: number,
  { table, columns }: CopiedPage,
): Promise<void> {
  if (columns.length > 0) await connection.run(statements[table].insert, [projectId, ...columns])
}
