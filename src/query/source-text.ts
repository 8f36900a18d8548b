// SQL as people who know PostHog write it, made ready for DuckDB's parser: `properties.$browser` (a dollar sign begins
// no name there), `backticks`, backslashes in text, and `quantile(0.9)(x)`, which becomes `quantile(x, 0.9)`. What the
// text may do is not decided here but on its syntax tree (rewrite.ts): a mistake in this file can make a query wrong,
// not dangerous.

import { ServiceError } from '../errors.ts'

export const queryLengthMax = 32 * 1024
/** Brackets in brackets. */
const depthMax = 100

const escapes: Readonly<Record<string, string>> = { '\\': '\\', "'": "''", n: '\n', t: '\t', r: '\r' }

/** What stands at one place of the text: how far it goes, and what it becomes. */
interface Read {
  readonly end: number
  readonly text: string
}

export interface Token {
  /** As it was written. */
  readonly given: string
  /** For DuckDB's parser; of a comment a space. */
  readonly text: string
}

/** The text for DuckDB's parser. Errors: as `tokensOf`, and for text that is nested too deep. */
export function sourceText(given: string): string {
  const parts: string[] = []
  const brackets = new Brackets()
  for (const token of tokensOf(given)) {
    parts.push(token.text)
    brackets.read(parts)
  }
  return parts.join('').replace(/[\s;]+$/, '')
}

/** The whole text in pieces. Errors: invalid_input for text that is too long or cut off. */
export function* tokensOf(given: string): Generator<Token> {
  if (given.length > queryLengthMax) {
    throw refused(`a query has at most ${queryLengthMax} characters, this one ${given.length}`)
  }
  if (/[\0\ud800-\udfff]/u.test(given)) throw refused('a query is text without NUL and lone surrogates')
  for (let at = 0; at < given.length; ) {
    const placeholder = /^\{\s*[A-Za-z_][\w.]*\s*\}/.exec(given.slice(at, at + 100))?.[0]
    if (placeholder !== undefined) throw refused(`placeholders such as ${placeholder} have no value here`)
    const { end, text } = readToken(given, at)
    yield { given: given.slice(at, end), text }
    at = end
  }
}

/** Keeps count of brackets, and puts what stands in brackets of its own in front of arguments behind them. */
class Brackets {
  /** Where those that are open stand in the parts. */
  readonly #open: number[] = []
  /** The pair that has just been closed, while nothing but space follows. */
  #closed: { readonly open: number; readonly close: number } | null = null
  /** Pairs whose closing is followed by another's opening, by where that stands. */
  readonly #behind = new Map<number, { readonly open: number; readonly close: number }>()

  /** Looks at the last of `parts`. */
  read(parts: string[]): void {
    const last = parts.length - 1
    const part = parts[last]!
    if (/^\s+$/.test(part)) return
    const closed = this.#closed
    this.#closed = null
    if ('([{'.includes(part)) {
      if (this.#open.push(last) > depthMax) throw refused(`brackets are nested deeper than ${depthMax}`)
      if (part === '(' && closed !== null && isName(parts[closed.open - 1])) this.#behind.set(last, closed)
    } else if (')]}'.includes(part)) {
      const open = this.#open.pop()
      if (part !== ')' || open === undefined) return
      const own = this.#behind.get(open)
      this.#behind.delete(open)
      if (own === undefined) this.#closed = { open, close: last }
      else swap(parts, own, open)
    }
  }
}

/** `name(own)(arguments)` → `name(arguments, own)`. The parts keep their places, which others stand for. */
function swap(parts: string[], own: { readonly open: number; readonly close: number }, open: number): void {
  const ownText = parts.slice(own.open + 1, own.close).join('')
  const given = parts.slice(open + 1, -1).join('')
  parts.fill('', own.open + 1)
  const both = given.trim() === '' ? [ownText] : [given, ownText]
  parts[parts.length - 1] = `${both.filter((text) => text.trim() !== '').join(', ')})`
}

function isName(part: string | undefined): boolean {
  return part !== undefined && /^[A-Za-z_]\w*$/.test(part)
}

function readToken(given: string, at: number): Read {
  const rest = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(given)?.[0]
  }
  const comment = rest(/--[^\n]*|\/\*/y)
  if (comment === '/*') return { end: endOf(given, '*/', at + 2), text: ' ' }
  if (comment !== undefined) return { end: at + comment.length, text: ' ' }
  const char = given[at]!
  if (char === "'") return readQuoted(given, at)
  if (char === '"' || char === '`') return readName(given, at)
  const word = rest(/[A-Za-z_$\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*/uy)
  if (word !== undefined) {
    const isQuoted = word.includes('$') || isFunction(word, given, at)
    return { end: at + word.length, text: isQuoted ? quoteName(word) : word }
  }
  // Whole numbers, so that `1e5` is not taken for a 1 and a name.
  const number = rest(/\d[\w.]*/y)
  return { end: at + (number?.length ?? 1), text: number ?? char }
}

/** Functions that DuckDB's parser takes for syntax: `any(x)`, unless it is compared with, and `extract(x, pattern)`. */
function isFunction(word: string, given: string, at: number): boolean {
  const behind = given.slice(at + word.length, at + word.length + 100)
  if (/^any$/i.test(word)) return /^\s*\(/.test(behind) && !/[=<>]\s*$/.test(given.slice(0, at))
  return /^extract$/i.test(word) && /^\s*\((?!\s*['\w]+\s+from\b)/i.test(behind)
}

/** Text in single quotes. A space in front keeps a letter before it from giving its backslashes a meaning. */
function readQuoted(given: string, start: number): Read {
  let text = " '"
  for (let at = start + 1; at < given.length; at++) {
    const char = given[at]!
    if (char === "'") {
      if (given[at + 1] !== "'") return { end: at + 1, text: `${text}'` }
      text += "''"
      at++
    } else if (char === '\\' && Object.hasOwn(escapes, given[at + 1] ?? '')) {
      text += escapes[given[at + 1]!]
      at++
    } else text += char
  }
  throw refused('a text has no closing quote')
}

function readName(given: string, start: number): Read {
  const quote = given[start]!
  let name = ''
  for (let at = start + 1; at < given.length; at++) {
    if (given[at] !== quote) name += given[at]
    else if (given[at + 1] === quote) {
      name += quote
      at++
    } else return { end: at + 1, text: quoteName(name) }
  }
  throw refused('a name has no closing quote')
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function endOf(given: string, mark: string, from: number): number {
  const at = given.indexOf(mark, from)
  if (at < 0) throw refused('a comment has no end')
  return at + mark.length
}

function refused(why: string): ServiceError {
  return new ServiceError('invalid_input', { detail: `Failed to parse query: ${why}` })
}
