// Pages of rows that carry properties. A row may take more than half a megabyte, so a page ends early when its
// properties reach a limit; its next link goes on behind the last row that is there.

import { type PagedRows, pagedRows } from '../api/counted-page.ts'
import { JsonText } from '../api/operation.ts'
import { envelope, linkTo, type Page } from '../api/pagination.ts'
import type { SqlValues } from './sql-values.ts'

/** Of properties in one page. The row that reaches it is still in the page, so there is always one. */
const pageBytesMax = 16 * 1024 * 1024

/** The parts of a statement for `countedRows`: a page of rows that have `properties_bytes`. */
export function boundedRows(rows: Omit<PagedRows, 'limit' | 'offset'>, page: Page, values: SqlValues) {
  const [limit, offset] = [values.add(page.limit, 'bigint'), values.add(page.offset, 'bigint')]
  const { listed, ...others } = pagedRows({ ...rows, limit, offset })
  const bounded = `select * from (
      select page_row.*, sum(properties_bytes) over (order by ${rows.order}) - properties_bytes as bytes_before
      from (${listed}) page_row
    ) measured where bytes_before < ${pageBytesMax}`
  return { ...others, listed: bounded }
}

/** The envelope of rows that are JSON texts already. */
export function boundedEnvelope(url: string, page: Page, count: number, texts: readonly string[]): JsonText {
  const { previous } = envelope(url, page, count, [])
  const offset = page.offset + texts.length
  const isLast = texts.length === 0 || offset >= count
  const next = isLast ? null : linkTo(url, { limit: page.limit, offset })
  return new JsonText(
    `{"count":${count},"next":${JSON.stringify(next)},"previous":${JSON.stringify(previous)},` +
      `"results":[${texts.join(',')}]}`,
  )
}
