// Rows of a staged CSV file, for destinations that take rows and not files. Values stay the texts that DuckDB wrote, so
// a number of thirty digits inside a JSON column arrives as it was. A field without quotes and without characters is
// NULL; two quotes are the empty text.

import { createReadStream } from 'node:fs'

export type Row = readonly (string | null)[]

const quote = '"'
/** The longest row, an event of 20 MiB, is looked through again with every piece of the file that arrives. */
const pieceBytes = 1024 * 1024

/** Reads a file after its header line. Errors: the file system's; an Error for a file that ends inside quotes. */
export async function* csvRows(path: string): AsyncGenerator<Row> {
  let text = ''
  let isHeader = true
  for await (const piece of createReadStream(path, { encoding: 'utf8', highWaterMark: pieceBytes })) {
    text += piece
    let at = 0
    for (let found = readRow(text, at); found !== null; found = readRow(text, at)) {
      at = found.end
      if (!isHeader) yield found.row
      isHeader = false
    }
    text = text.slice(at)
  }
  if (text !== '') throw new Error('the staged file ends inside a row')
}

/** A row as line of such a file. */
export function csvText(row: Row): string {
  return `${row.map((value) => (value === null ? '' : `"${value.replaceAll(quote, '""')}"`)).join(',')}\n`
}

/** The row at `at`, or null when it is not whole: each ends with a line feed. */
function readRow(text: string, at: number): { readonly row: Row; readonly end: number } | null {
  const row: (string | null)[] = []
  let start = at
  while (true) {
    const isQuoted = text[start] === quote
    const end = isQuoted ? closingQuote(text, start) + 1 : plainEnd(text, start)
    if (end <= 0 || end >= text.length) return null
    if (isQuoted) row.push(text.slice(start + 1, end - 1).replaceAll('""', quote))
    else row.push(end === start ? null : text.slice(start, end))
    if (text[end] === '\n') return { row, end: end + 1 }
    start = end + 1
  }
}

/** Where the quotes opened at `start` close, or -1. */
function closingQuote(text: string, start: number): number {
  let at = text.indexOf(quote, start + 1)
  while (at !== -1 && text[at + 1] === quote) at = text.indexOf(quote, at + 2)
  return at
}

function plainEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at] !== ',' && text[at] !== '\n') at++
  return at
}
