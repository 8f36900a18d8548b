// A page of a list and the number of all rows, in one statement and so of one moment.

import type { Session } from '../postgres/pool.ts'
import { type Envelope, envelope, type Page } from './pagination.ts'

interface CountedList {
  /** Selects all rows of the list. */
  readonly select: string
  readonly params: readonly unknown[]
  /** By columns of `select`; must leave no two rows equal. */
  readonly order: string
  /** This request's own address. */
  readonly url: string
  readonly page: Page
}

/** Reads the page of a list in its envelope. */
export async function countedPage<Row extends object>(
  sql: Session,
  list: CountedList,
): Promise<Envelope<Row>> {
  const { select, params, order, url, page } = list
  const listed = `select * from (${select}) every_row
    order by ${order} limit $${params.length + 1} offset $${params.length + 2}`
  const values = [...params, page.limit, page.offset]
  const { count, rows } = await countedRows<Row>(sql, { every: select, listed, order, values })
  return envelope(url, page, count, rows)
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
    `select counted.list_count, listed.*
     from (select count(*) as list_count from (${every}) every_row) counted
     left join (
       select true as list_row, row_number() over (order by ${order}) as list_place, listed_row.*
       from (${listed}) listed_row
     ) listed on true
     order by listed.list_place`,
    values,
  )
  return {
    count: rows[0]?.list_count ?? 0,
    rows: rows.filter((row) => row.list_row === true).map(withoutMarks),
  }
}

function withoutMarks<Row extends object>(row: Row): Row {
  const { list_count, list_row, list_place, ...rest } = row as Row & Record<string, unknown>
  return rest as Row // Row has none of the three
}
