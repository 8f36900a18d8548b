// The mirror's rows: how changes are written, how a generation is copied without what is superseded, and how others
// are removed.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreChange } from '../identity/changes.ts'
import type { MirrorChange } from './mirror-page.ts'

/** Of a generation. */
export interface RowCounts {
  readonly base: number
  readonly changes: number
}

/** Those with rows of generations. */
const tables = [
  'person_override',
  'person_override_change',
  'person_tombstone',
  'group_type',
  'mirror',
] as const

type Kind<K extends StoreChange['kind']> = StoreChange & { readonly kind: K }

const integers = (parameter: number) => `unnest(string_split($${parameter}, ','))::bigint`
const uuids = (parameter: number) => `unnest(string_split($${parameter}, ','))::uuid`

/**
 * Appends changes to a generation within the running transaction; as rows of its base while that is copied. Returns
 * how many overrides there were.
 */
export async function writeChanges(
  connection: DuckDBConnection,
  generation: number,
  changes: readonly MirrorChange[],
  isBase: boolean,
): Promise<number> {
  const overrides = changes.filter(isKind('override'))
  if (overrides.length > 0) await writeOverrides(connection, generation, overrides, isBase)
  const seqOf = ({ seq }: MirrorChange): number => (isBase ? 0 : seq)
  const tombstones = changes.filter(isKind('person_tombstone'))
  if (tombstones.length > 0) {
    await connection.run(
      `insert into person_tombstone
       select $1::integer, project_id, born_id, make_timestamptz(deleted_at_ms * 1000), seq
       from (select ${integers(2)} as project_id, ${uuids(3)} as born_id, ${integers(4)} as deleted_at_ms,
         ${integers(5)} as seq)`,
      [
        generation,
        joined(tombstones, ({ change }) => change.projectId),
        joined(tombstones, ({ change }) => change.bornId),
        joined(tombstones, ({ change }) => change.deletedAtMs),
        joined(tombstones, seqOf),
      ],
    )
  }
  // A project has five at most.
  for (const type of changes.filter(isKind('group_type'))) {
    const { projectId, index, name } = type.change
    await connection.run(
      'insert into group_type values ($1::integer, $2::integer, $3::utinyint, $4, $5::bigint)',
      [generation, projectId, index, name, seqOf(type)],
    )
  }
  return overrides.length
}

async function writeOverrides(
  connection: DuckDBConnection,
  generation: number,
  overrides: readonly { readonly seq: number; readonly change: Kind<'override'> }[],
  isBase: boolean,
): Promise<void> {
  const ids = [
    generation,
    joined(overrides, ({ change }) => change.projectId),
    joined(overrides, ({ change }) => change.bornId),
    joined(overrides, ({ change }) => change.personUuid),
  ]
  const columns = `${integers(2)}, ${uuids(3)}, ${uuids(4)}`
  if (isBase) {
    await connection.run(`insert into person_override select $1::integer, ${columns}`, ids)
    return
  }
  await connection.run(`insert into person_override_change select $1::integer, ${integers(5)}, ${columns}`, [
    ...ids,
    joined(overrides, ({ seq }) => seq),
  ])
}

export async function countRows(connection: DuckDBConnection, generation: number): Promise<RowCounts> {
  const reader = await connection.runAndReadAll(
    `select (select count(*) from person_override where generation = $1::integer)::double,
       (select count(*) from person_override_change where generation = $1::integer)::double`,
    [generation],
  )
  const [base, changes] = reader.getRows()[0] ?? []
  return { base: Number(base), changes: Number(changes) }
}

/**
 * Copies slice `slice` of `slices` from one generation to the base of another within the running transaction: the
 * latest of every id, without ids that belong to whom they were born to and without deleted projects. Returns how many
 * overrides it copied.
 */
export async function copySlice(
  connection: DuckDBConnection,
  from: number,
  to: number,
  slice: number,
  slices: number,
): Promise<number> {
  const values = [from, to, sliceStart(slice, slices), sliceStart(slice + 1, slices)]
  const isOfSlice = `generation = $1::integer and born_id >= $3::uuid and (born_id < $4::uuid or $4 is null)
    and project_id not in (select project_id from deleted_project)`
  const { rowsChanged } = await connection.run(
    `insert into person_override
     select $2::integer, project_id, born_id, arg_max(person_id, seq)
     from (
       select project_id, born_id, person_id, -1 as seq from person_override where ${isOfSlice}
       union all
       select project_id, born_id, person_id, seq from person_override_change where ${isOfSlice})
     group by project_id, born_id
     having arg_max(person_id, seq) <> born_id`,
    values,
  )
  await connection.run(
    `insert into person_tombstone
     select $2::integer, project_id, born_id, max(deleted_at), 0
     from person_tombstone where ${isOfSlice}
     group by project_id, born_id`,
    values,
  )
  if (slice > 0) return rowsChanged
  await connection.run(
    `insert into group_type
     select distinct $2::integer, project_id, index, name, 0 from group_type
     where generation = $1::integer and project_id not in (select project_id from deleted_project)`,
    [from, to],
  )
  return rowsChanged
}

/** Forgets where a generation was, so that it is none any more: its rows are removed like those of others. */
export async function forgetGeneration(connection: DuckDBConnection, generation: number): Promise<void> {
  await connection.run('delete from mirror where generation = $1::integer', [generation])
}

/**
 * Removes up to `rowsMax` rows a table of generations other than `generation`. Returns false when there were none.
 * Deleted here is rarely, between transactions of the loader, and what nothing reads any more.
 */
export async function removeOthers(
  connection: DuckDBConnection,
  generation: number,
  rowsMax: number,
): Promise<boolean> {
  let removed = 0
  for (const table of tables) {
    const result = await connection.run(
      `delete from ${table} where rowid in
         (select rowid from ${table} where generation <> $1::integer limit $2::bigint)`,
      [generation, rowsMax],
    )
    removed += result.rowsChanged
  }
  return removed > 0
}

/** The least and the greatest number of a generation that has rows; null when there is none. */
export async function readGenerations(
  connection: DuckDBConnection,
): Promise<{ readonly least: number; readonly most: number } | null> {
  const all = tables.map((table) => `select min(generation) as least, max(generation) as most from ${table}`)
  const reader = await connection.runAndReadAll(
    `select min(least), max(most) from (${all.join(' union all ')})`,
  )
  const [least, most] = reader.getRows()[0] ?? []
  return typeof least === 'number' && typeof most === 'number' ? { least, most } : null
}

/**
 * The first id of a slice; null behind the last one. Born ids are hashes, so that ranges of them are of one size; a
 * hash of DuckDB's own may be another in its next version, which would go on with the copy.
 */
function sliceStart(slice: number, slices: number): string | null {
  if (slice === slices) return null
  const start = Math.floor((slice / slices) * 2 ** 32)
  return `${start.toString(16).padStart(8, '0')}-0000-0000-0000-000000000000`
}

function isKind<K extends StoreChange['kind']>(kind: K) {
  return (one: MirrorChange): one is { readonly seq: number; readonly change: Kind<K> } =>
    one.change.kind === kind
}

function joined<Row>(rows: readonly Row[], value: (row: Row) => string | number): string {
  return rows.map(value).join(',')
}
