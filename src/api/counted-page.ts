// A page of a list and the number of all rows, in one statement and so of one moment.

import { type Envelope, envelope, type Page } from './pagination.ts'
import type { TenantSql } from './tenant-sql.ts'

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
  sql: TenantSql,
  list: CountedList,
): Promise<Envelope<Row>> {
  const { select, params, order, url, page } = list
  const { rows } = await sql.query<Row & { list_count: number; list_row: boolean | null }>(
    `select counted.list_count, listed.*
     from (select count(*) as list_count from (${select}) every_row) counted
     left join (
       select true as list_row, row_number() over (order by ${order}) as list_place, every_row.*
       from (${select}) every_row
       order by ${order} limit $${params.length + 1} offset $${params.length + 2}
     ) listed on true
     order by listed.list_place`,
    [...params, page.limit, page.offset],
  )
  const count = rows[0]?.list_count ?? 0
  return envelope(url, page, count, rows.filter((row) => row.list_row === true).map(withoutMarks))
}

function withoutMarks<Row extends object>(row: Row): Row {
  const { list_count, list_row, list_place, ...rest } = row as Row & Record<string, unknown>
  return rest as Row // Row has none of the three
}
