// What the columns of an answer are called where a query gives them no name of its own: as PostHog calls them, not as
// the store does, which would say `json_extract_string(properties, '/plan')` and `count_star()`.
//
//   properties.plan, e.event, person.created_at     the last part: plan, event, created_at
//   count(), toDate(timestamp), a + 1               its own text, spaces evened out
//   … as n, *                                       what it is called anyway
//
// A name given here must mean nothing inside the query: `select lower(event) as event … where event = 'A'` would read
// something else. So it begins with a mark that no name of a query can hold (rules.ts refuses control characters), and
// whoever reads the answer takes that off (src/events/shown-name.ts). Plain columns keep what they have, by which a
// union may be ordered. Only the outermost SELECT is named, of a union the first.

import { ownNameMark } from '../events/shown-name.ts'
import { type Ast, listOf, nodeOf } from './ast.ts'
import { type Token, tokensOf } from './source-text.ts'

/** One for each item of the outermost SELECT; null for one that keeps the name that it has. */
export type ColumnNames = readonly (string | null)[]

/** Words that end a list of columns. */
const listEnds = /^(?:from|where|having|qualify|window|order|limit|offset|union|except|intersect|;)$/i

/** `text` is the query as its people wrote it, and `statement` what `parseQuery` has read there. */
export function columnNames(text: string, statement: Ast): ColumnNames {
  const { first, isByName } = firstSelect(statement)
  // There its sides are matched by the names.
  if (isByName) return []
  const items = listOf(first.select_list).map(nodeOf)
  const texts = itemTexts([...tokensOf(text)])
  return items.map((item, index) => {
    if (item.alias !== '' || item.class === 'STAR' || holdsColumns(item)) return null
    if (item.class === 'COLUMN_REF') return String(listOf(item.column_names).at(-1))
    // A list that was not understood leaves expressions the names of the store.
    return texts.length === items.length ? texts[index]! : null
  })
}

/** `rewritten` with these names in its outermost SELECT. */
export function nameColumns(rewritten: Ast, names: ColumnNames): Ast {
  if (rewritten.type === 'SET_OPERATION_NODE') {
    const { left, children } = rewritten
    if (!Array.isArray(children) || children.length === 0)
      return { ...rewritten, left: nameColumns(nodeOf(left), names) }
    return { ...rewritten, children: [nameColumns(nodeOf(children[0]), names), ...children.slice(1)] }
  }
  const items = listOf(rewritten.select_list).map(nodeOf)
  return { ...rewritten, select_list: items.map((item, index) => named(item, names[index] ?? null)) }
}

function named(item: Ast, name: string | null): Ast {
  const isPlain = item.class === 'COLUMN_REF' && listOf(item.column_names).at(-1) === name
  return name === null || isPlain ? item : { ...item, alias: `${ownNameMark}${name}` }
}

function firstSelect(statement: Ast): { readonly first: Ast; readonly isByName: boolean } {
  if (statement.type !== 'SET_OPERATION_NODE') return { first: statement, isByName: false }
  // Two sides in an older format, a list of them in a newer one.
  const { left, children } = statement
  const { first, isByName } = firstSelect(nodeOf(Array.isArray(children) ? (children[0] ?? left) : left))
  return { first, isByName: isByName || statement.setop_type === 'UNION_BY_NAME' }
}

/** True for `max(columns(*))`, which stands for a column each. */
function holdsColumns(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return ('columns' in value && value.columns === true) || Object.values(value).some(holdsColumns)
}

/** The texts of the items of the first outermost list of columns; none when there is none. */
function itemTexts(tokens: readonly Token[]): string[] {
  const words = wordsOf(tokens)
  // "(select a) union (select b)"
  const base = words.findIndex(({ text }) => text !== '(')
  const select = words.findIndex(({ text, depth }) => depth === base && /^select$/i.test(text))
  if (select < 0) return []
  const items: Word[][] = [[]]
  for (let at = afterDistinct(words, select + 1); at < words.length; at++) {
    const word = words[at]!
    if (word.depth < base || (word.depth === base && endsList(words, at))) break
    if (word.depth === base && word.text === ',') items.push([])
    else items.at(-1)!.push(word)
  }
  // A comma may stand behind the last.
  if (items.at(-1)!.length === 0) items.pop()
  return items.map((item) => textOf(unwrapped(item)))
}

interface Word {
  readonly text: string
  /** Brackets around it. A bracket has those around the pair. */
  readonly depth: number
  readonly hasSpace: boolean
}

function wordsOf(tokens: readonly Token[]): Word[] {
  const words: Word[] = []
  let depth = 0
  let hasSpace = false
  for (const { given, text } of tokens) {
    // Comments become a space.
    if (text.trim() === '') {
      hasSpace = true
      continue
    }
    if (/^[)\]}]$/.test(given)) depth--
    words.push({ text: given, depth, hasSpace })
    if (/^[([{]$/.test(given)) depth++
    hasSpace = false
  }
  return words
}

/** `distinct`, `distinct on (…)` and `all` belong to no column. */
function afterDistinct(words: readonly Word[], at: number): number {
  if (/^all$/i.test(words[at]?.text ?? '')) return at + 1
  if (!/^distinct$/i.test(words[at]?.text ?? '')) return at
  if (!/^on$/i.test(words[at + 1]?.text ?? '')) return at + 1
  const { depth } = words[at]!
  const close = words.findIndex((word, index) => index > at && word.depth === depth && word.text === ')')
  return close + 1
}

function endsList(words: readonly Word[], at: number): boolean {
  const { text } = words[at]!
  // `within group (order by x)` and `is distinct from` are parts of an expression.
  if (/^group$/i.test(text)) return /^by$/i.test(words[at + 1]?.text ?? '')
  if (/^from$/i.test(text) && /^distinct$/i.test(words[at - 1]!.text)) return false
  return listEnds.test(text)
}

/** Without brackets around the whole. */
function unwrapped(words: readonly Word[]): readonly Word[] {
  const [first, last] = [words[0], words.at(-1)]
  if (first?.text !== '(' || last?.text !== ')') return words
  const isOnePair = words.slice(1, -1).every(({ depth }) => depth > first.depth)
  return isOnePair && words.length > 2 ? unwrapped(words.slice(1, -1)) : words
}

/** One space where there was any and behind commas, none inside brackets. */
function textOf(words: readonly Word[]): string {
  let text = ''
  for (const [index, word] of words.entries()) {
    const before = words[index - 1]?.text
    const isTight = before === undefined || /^[([{]$/.test(before) || /^[)\]},]$/.test(word.text)
    text += before === ',' || (word.hasSpace && !isTight) ? ` ${word.text}` : word.text
  }
  return text
}
