// JSON has numbers of any size; jsonb's end at 131,072 digits before the point and 16,383 behind it. Those far beyond
// what anybody counts become text, which is what person properties do with them, too.

import { csvRows, csvText } from './csv-rows.ts'
import type { Column } from './delivery.ts'

/** Of digits, and of the exponent: a double ends at 308. */
const digitsMax = 1_000

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** A staged file's text with the numbers of its JSON columns tamed, row by row. */
export async function* tamedCsv(path: string, columns: readonly Column[]): AsyncGenerator<string> {
  yield csvText(columns.map(({ name }) => name))
  for await (const row of csvRows(path)) {
    yield csvText(
      row.map((value, at) => (value === null || columns[at]?.type !== 'json' ? value : tameNumbers(value))),
    )
  }
}

/** The JSON text with numbers of too many digits in quotes. */
export function tameNumbers(json: string): string {
  return json.replace(tokens, (token) => (token.startsWith('"') || !isHuge(token) ? token : `"${token}"`))
}

function isHuge(number: string): boolean {
  const exponent = /[eE](.+)$/.exec(number)?.[1] ?? '0'
  return number.length > digitsMax || Math.abs(Number(exponent)) > digitsMax
}
