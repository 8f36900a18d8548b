// A page of a list and the number of all rows, in one statement and so of one moment.
//
// The statement finds the keys of the page first and what is shown of them afterwards: what a row shows may be dear to
// make, and a list of 10,000 rows makes it for those of the page only. What it is sorted by therefore has to be cheap.
//
// Each row of the page is looked up by its key, which `offset 0` holds the planner to: it takes a page far behind for a
// page of one row, and would read the whole list once for each row of it.
//
// Planned once by each connection (`often`): ten flags took 0.8 ms to parse, 2.3 to plan and 0.8 to run, and on a core
// that is busy everybody else waits for that.

import { often, type Session } from '../postgres/pool.ts'
import { type Envelope, envelope, type Page } from './pagination.ts'

/** A page of the rows of a statement. */
export interface PagedRows {
  /** Selects all rows of the list. */
  readonly select: string
  /** Columns of `select` that no two rows have in common, by which a row is found fast; `id` when absent. */
  readonly key?: readonly string[]
  /** Columns of `select`, each with ` desc` or without; must leave no two rows equal. */
  readonly order: string
  /** Placeholders of the statement's parameters. */
  readonly limit: string
  readonly offset: string
}

export interface CountedList extends Omit<PagedRows, 'limit' | 'offset'> {
  /** Parameters of `select`, whose columns that are called `list_…` are not shown. */
  readonly params: readonly unknown[]
  /** This request's own address. */
  readonly url: string
  readonly page: Page
}

/** Reads the page of a list in its envelope. */
export async function countedPage<Row extends object>(
  sql: Session,
  { params, url, page, ...list }: CountedList,
): Promise<Envelope<Row>> {
  const parts = pagedRows({ ...list, limit: `$${params.length + 1}`, offset: `$${params.length + 2}` })
  const values = [...params, page.limit, page.offset]
  const { count, rows } = await countedRows<Row>(sql, { ...parts, order: list.order, values })
  return envelope(url, page, count, rows)
}

/** The parts of a statement for `countedRows`. */
export function pagedRows({ select, key = ['id'], order, limit, offset }: PagedRows) {
  const sorting = order.split(',').map((column) => column.trim().replace(/ desc$/, ''))
  const columns = [...new Set([...key, ...sorting])].join(', ')
  const keyOf = (row: string): string => `(${key.map((column) => `${row}.${column}`).join(', ')})`
  const keys = `select ${columns} from (${select}) every_row`
  return {
    every: select,
    listed: `select shown.* from (
        select ${key.join(', ')} from (${keys}) key_row
        order by ${order} limit ${limit} offset ${offset}) page
      cross join lateral (
        select * from (${select}) one_row where ${keyOf('one_row')} = ${keyOf('page')} offset 0) shown`,
  }
}

interface CountedRows {
  /** Selects all rows. */
  readonly every: string
  /** Selects the rows that are wanted. */
  readonly listed: string
  /** By columns of `listed`; must leave no two rows equal. */
  readonly order: string
  /** Parameters of both. */
  readonly values: readonly unknown[]
}

/** Reads the rows that `listed` selects, in order, and counts those that `every` selects. */
export async function countedRows<Row extends object>(
  sql: Session,
  { every, listed, order, values }: CountedRows,
): Promise<{ count: number; rows: Row[] }> {
  const { rows } = await sql.query<Row & { list_count: number; list_row: boolean | null }>(
    often(`select counted.list_count, listed.*
     from (select count(*) as list_count from (${every}) every_row) counted
     left join (
       select true as list_row, row_number() over (order by ${order}) as list_place, listed_row.*
       from (${listed}) listed_row
     ) listed on true
     order by listed.list_place`),
    values,
  )
  const shown = Object.keys(rows[0] ?? {}).filter((name) => !name.startsWith('list_'))
  return {
    count: rows[0]?.list_count ?? 0,
    rows: rows.filter((row) => row.list_row === true).map((row) => only(row, shown)),
  }
}

/** All rows of a statement have the same columns. */
function only<Row extends object>(row: Row, names: readonly string[]): Row {
  const shown: Record<string, unknown> = {}
  for (const name of names) shown[name] = Reflect.get(row, name)
  return shown as Row // no Row has one of the other names
}
