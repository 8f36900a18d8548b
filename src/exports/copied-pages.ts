// How much of Postgres is copied at a time into a temporary table of the events store. Pure.

export interface Sized {
  /** Of what is copied for it. */
  readonly bytes: number
}

/** One page: some 20 ms of the events thread. */
const pageRowsMax = 5_000
const pageBytesMax = 4 * 1024 * 1024

/** Cuts rows into pages; one that is larger than a page has one of its own. */
export function pagesOf<Row extends Sized>(rows: readonly Row[]): Row[][] {
  const pages: Row[][] = []
  let page: Row[] = []
  let bytes = 0
  for (const row of rows) {
    if (page.length === pageRowsMax || (page.length > 0 && bytes + row.bytes > pageBytesMax)) {
      pages.push(page)
      page = []
      bytes = 0
    }
    page.push(row)
    bytes += row.bytes
  }
  if (page.length > 0) pages.push(page)
  return pages
}
