// Seals everything anew with the current key, row by row. Every sealed text names its key, so a run that was
// interrupted is simply run again: it finds what is left. A credential that is saved meanwhile wins.

import { isServiceError } from '../errors.ts'
import type { Session } from '../postgres/pool.ts'
import type { SealedColumn, SealedPlace, Sealer } from './sealer.ts'

export interface Resealed {
  /** Rows sealed anew. */
  readonly count: number
  /** What did not open, as "table.column id". */
  readonly unreadable: readonly string[]
}

const chunkRows = 100
const firstId = '00000000-0000-0000-0000-000000000000'

/** Errors: postgres_unavailable; secret_unreadable when there is no key. What was done until then stays done. */
export async function resealAll(
  session: Session,
  sealer: Sealer,
  columns: readonly SealedColumn[],
): Promise<Resealed> {
  const prefix = sealer.currentPrefix()
  const unreadable: string[] = []
  let count = 0
  for (const column of columns) {
    let rows = await nextRows(session, column, prefix, firstId)
    for (; rows.length > 0; rows = await nextRows(session, column, prefix, rows.at(-1)!.id)) {
      for (const { id, sealed } of rows) {
        const text = openOrNull(sealer, { ...column, id }, sealed)
        if (text === null) unreadable.push(`${column.table}.${column.column} ${id}`)
        else count += await replace(session, { ...column, id }, sealed, sealer.seal({ ...column, id }, text))
      }
    }
  }
  return { count, unreadable }
}

interface SealedRow {
  readonly id: string
  readonly sealed: string
}

// Names of tables and columns come from the list in sealer.ts; no parameter can stand for them.

async function nextRows(
  session: Session,
  { table, column }: SealedColumn,
  prefix: string,
  after: string,
): Promise<SealedRow[]> {
  const { rows } = await session.query<SealedRow>(
    `select id, ${column} as sealed from ${table}
     where id > $1 and ${column} is not null and not starts_with(${column}, $2) order by id limit $3`,
    [after, prefix, chunkRows],
  )
  return rows
}

async function replace(
  session: Session,
  { table, column, id }: SealedPlace,
  before: string,
  after: string,
): Promise<number> {
  const { rowCount } = await session.query(
    `update ${table} set ${column} = $3 where id = $1 and ${column} = $2`,
    [id, before, after],
  )
  return rowCount
}

function openOrNull(sealer: Sealer, place: SealedPlace, sealed: string): string | null {
  try {
    return sealer.open(place, sealed)
  } catch (error) {
    if (isServiceError(error, 'secret_unreadable')) return null
    throw error
  }
}
