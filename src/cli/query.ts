// `spate query`: SQL on a project's events, asked of the running server.

import type { Config } from '../config.ts'
import { distinctName } from '../events/shown-name.ts'
import { openServerClient, type ServerAddress } from './server-client.ts'

export const queryFormats = ['table', 'csv', 'jsonl', 'parquet'] as const
export type QueryFormat = (typeof queryFormats)[number]

export interface QueryOptions extends ServerAddress {
  readonly sql: string
  /** Id or project API key; the only project when undefined. */
  readonly project?: string | undefined
  readonly format: QueryFormat
}

/** The answer of /query/ (src/management/query.ts), as far as it is printed. */
interface Answer {
  readonly columns: readonly string[]
  readonly results: readonly (readonly unknown[])[]
  readonly hasMore: boolean
  readonly limit: number
}

/** Why the answer may not go to stdout; null when it may. */
export function refusalOf(format: QueryFormat, isTerminal: boolean): string | null {
  if (format !== 'parquet' || !isTerminal) return null
  return 'a Parquet file is not for a terminal: name a file with --output, or redirect it'
}

/**
 * Returns what to print or write, and a remark for stderr.
 * Errors: config_invalid, server_unavailable, server_refused.
 */
export async function runQuery(
  config: Config,
  options: QueryOptions,
): Promise<{ readonly output: string | Uint8Array; readonly remark: string }> {
  const { sql, format } = options
  const server = openServerClient(config, options)
  const projectId = await server.findProject(options.project)
  const path = `/api/projects/${projectId}/query/`
  const body = { query: { kind: 'HogQLQuery', query: sql } }
  if (format === 'parquet') {
    return { output: await server.postForFile(path, { ...body, format }), remark: '' }
  }
  // The route answers what query.ts describes.
  const answer = (await server.post(path, body)) as Answer
  const remark = answer.hasMore ? `only the first ${answer.limit} rows: add a LIMIT for more\n` : ''
  return { output: printed(answer, format), remark }
}

function printed({ columns, results }: Answer, format: Exclude<QueryFormat, 'parquet'>): string {
  const names = new Set<string>()
  const distinct = columns.map((column) => distinctName(column, names))
  switch (format) {
    case 'jsonl':
      return results.map((row) => `${JSON.stringify(objectOf(distinct, row))}\n`).join('')
    case 'csv':
      return [distinct, ...results].map((row) => `${row.map(csvField).join(',')}\r\n`).join('')
    case 'table':
      return table([columns, ...results])
  }
}

function objectOf(columns: readonly string[], row: readonly unknown[]): object {
  return Object.fromEntries(columns.map((column, index) => [column, row[index]]))
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** RFC 4180. What a spreadsheet would take for a formula gets an apostrophe in front. */
function csvField(value: unknown): string {
  const text = textOf(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const cellWidthMax = 80

function table(rows: readonly (readonly unknown[])[]): string {
  const texts = rows.map((row) => row.map(cell))
  const widths = (texts[0] ?? []).map((_, index) => Math.max(...texts.map((row) => row[index]?.length ?? 0)))
  const lines = texts.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return `${lines.join('\n')}\n`
}

/** Text of a sender's choosing: what would move a terminal's cursor, or turn text around, is escaped. */
function cell(value: unknown): string {
  const text = textOf(value)
  const cut = text.length > cellWidthMax ? `${text.slice(0, cellWidthMax - 1)}…` : text
  return cut.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
