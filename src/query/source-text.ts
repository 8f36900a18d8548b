// SQL as people who know PostHog write it, made ready for DuckDB's parser: `properties.$browser` (a dollar sign begins
// no name there), `backticks`, and backslashes in text. What the text may do is not decided here but on its syntax tree
// (rewrite.ts): a mistake in this file can make a query wrong, not dangerous.

import { ServiceError } from '../errors.ts'

export const queryLengthMax = 32 * 1024
/** Brackets in brackets. */
const depthMax = 100

const escapes: Readonly<Record<string, string>> = { '\\': '\\', "'": "''", n: '\n', t: '\t', r: '\r' }

/** What stands at one place of the text: its first character, how far it goes, and what it becomes. */
interface Token {
  readonly end: number
  readonly text: string
}

/** The text for DuckDB's parser. Errors: invalid_input for text that is too long, nested too deep or cut off. */
export function sourceText(given: string): string {
  if (given.length > queryLengthMax) {
    throw refused(`a query has at most ${queryLengthMax} characters, this one ${given.length}`)
  }
  if (/[\0\ud800-\udfff]/u.test(given)) throw refused('a query is text without NUL and lone surrogates')
  const parts: string[] = []
  let depth = 0
  for (let at = 0; at < given.length; ) {
    const char = given[at]!
    if ('([{'.includes(char) && ++depth > depthMax)
      throw refused(`brackets are nested deeper than ${depthMax}`)
    if (')]}'.includes(char)) depth--
    const token = readToken(given, at)
    parts.push(token.text)
    at = token.end
  }
  return parts.join('').replace(/[\s;]+$/, '')
}

function readToken(given: string, at: number): Token {
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
    return { end: at + word.length, text: word.includes('$') ? quoteName(word) : word }
  }
  // Whole numbers, so that `1e5` is not taken for a 1 and a name.
  const number = rest(/\d[\w.]*/y)
  return { end: at + (number?.length ?? 1), text: number ?? char }
}

/** Text in single quotes. A space in front keeps a letter before it from giving its backslashes a meaning. */
function readQuoted(given: string, start: number): Token {
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

function readName(given: string, start: number): Token {
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
