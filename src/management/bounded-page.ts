// Pages of rows that carry properties. A row may take more than half a megabyte, so a page ends early when its
// properties reach a limit; its next link goes on behind the last row that is there.

import { JsonText } from '../api/operation.ts'
import { envelope, linkTo, type Page } from '../api/pagination.ts'
import type { SqlValues } from './sql-values.ts'

/** Of properties in one page. The row that reaches it is still in the page, so there is always one. */
const pageBytesMax = 16 * 1024 * 1024

/**
 * Selects a page of the rows of `every`, a statement that selects `properties_bytes` and its sorting columns. `order`
 * must leave no two rows equal.
 */
export function boundedRows(every: string, order: string, page: Page, values: SqlValues): string {
  const { limit, offset } = page
  return `select * from (
      select page.*, sum(properties_bytes) over (order by ${order}) - properties_bytes as bytes_before
      from (${every} order by ${order}
        limit ${values.add(limit, 'bigint')} offset ${values.add(offset, 'bigint')}) page
    ) measured where bytes_before < ${pageBytesMax}`
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
