// Reads one level of JSON text and leaves the values as text: a number stays the digits that were sent. For text that
// was validated before it came here (the person column, stored properties), not for input from outside.

import { assert } from '../lib/assert.ts'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const plainText = /^[ !#-[\]-~]*$/

/** The values of the JSON object `text` by key; of repeated keys the last one holds. */
export function readMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charCodeAt(at) !== closeBrace) {
    const keyEnd = endOfString(text, at)
    const key = unquoteAt(text, at, keyEnd)
    at = skipSpace(text, skipPast(text, keyEnd, colon))
    const end = endOfValue(text, at)
    members.set(key, text.slice(at, end))
    at = skipPast(text, end, comma)
  }
  return members
}

/** The elements of the JSON array `text`. */
export function readElements(text: string): string[] {
  const elements: string[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charCodeAt(at) !== closeBracket) {
    const end = endOfValue(text, at)
    elements.push(text.slice(at, end))
    at = skipPast(text, end, comma)
  }
  return elements
}

/** Prints an object; the values are JSON text. */
export function printMembers(members: ReadonlyMap<string, string>): string {
  const parts: string[] = []
  for (const [key, value] of members) parts.push(`${quoteText(key)}:${value}`)
  return `{${parts.join(',')}}`
}

/** The JSON string that stands for a string. Where nothing needs an escape: 29 ns, JSON.stringify 70 (Node 20.20). */
export function quoteText(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** The string that a JSON string stands for. */
export function unquote(text: string): string {
  // What JSON.parse makes of a quoted text is a string.
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
}

/** The same for the string at [start, end) of a longer text. */
function unquoteAt(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? unquote(`"${inner}"`) : inner
}

/** The first place behind spaces, at most one `byte` and more spaces. */
function skipPast(text: string, at: number, byte: number): number {
  const there = skipSpace(text, at)
  return text.charCodeAt(there) === byte ? skipSpace(text, there + 1) : there
}

function skipSpace(text: string, at: number): number {
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

function endOfValue(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case quote:
      return endOfString(text, at)
    case openBrace:
    case openBracket:
      return endOfContainer(text, at)
  }
  for (let end = at; ; end++) {
    const unit = text.charCodeAt(end)
    // At the end of the text the unit is NaN, which no comparison lets pass.
    if (!(unit > 0x20) || unit === comma || unit === closeBrace || unit === closeBracket) return end
  }
}

/** Behind the closing quote of the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    assert(end > at, 'a JSON string ends')
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((end - before) % 2 === 1) return end + 1
  }
}

function endOfContainer(text: string, at: number): number {
  let depth = 0
  for (let end = at; ; end++) {
    assert(end < text.length, 'a JSON object or array ends')
    switch (text.charCodeAt(end)) {
      case quote:
        end = endOfString(text, end) - 1
        break
      case openBrace:
      case openBracket:
        depth++
        break
      case closeBrace:
      case closeBracket:
        if (--depth === 0) return end + 1
    }
  }
}
