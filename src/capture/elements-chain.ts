// The `$elements` array of old autocapture as the chain text that newer SDKs send and PostHog stores:
//
//   a.btn.primary:attr__href="/x"href="/x"nth-child="1"nth-of-type="2"text="Go";div:nth-child="0"nth-of-type="0"
//
// One element after the other, separated by `;`: tag name, sorted classes, `:`, attributes sorted by name with quotes
// escaped by a backslash. After PostHog's elementsToString.

import { letterN, openBrace, openBracket, quote } from './json-bytes.ts'
import { nextMember, openMembers } from './members.ts'
import type { Scan } from './scan.ts'
import type { TextArena } from './text-arena.ts'
import { unescapeText } from './unescape.ts'

const textCharsMax = 400
const hrefCharsMax = 2048

/** Elements become objects; longer ones are nobody's page, and millions of them are more than a thread's heap. */
export const elementsBytesMax = 1024 * 1024

/** One order for all machines, whatever their locale. */
const collator = new Intl.Collator('en')

/**
 * Appends the chain of the elements array at `at`. Members that are no objects are left out.
 * Returns false, with a part of it appended, when the chain is longer than `bytesMax`.
 */
export function writeElementsChain(scan: Scan, at: number, target: TextArena, bytesMax: number): boolean {
  const start = target.size
  const elements = openMembers(scan, at)
  while (nextMember(scan, elements)) {
    if (scan.bytes[elements.start] !== openBrace) continue
    const text = Buffer.from(`${target.size > start ? ';' : ''}${elementText(scan, elements.start)}`)
    if (target.size - start + text.length > bytesMax) return false
    target.reserve(text.length)
    target.append(text, 0, text.length)
  }
  return true
}

function elementText(scan: Scan, at: number): string {
  let tagName = ''
  let classes: string[] = []
  const attributes = new Map<string, string>()
  let [nthChild, nthOfType] = ['0', '0']
  const fields = openMembers(scan, at)
  while (nextMember(scan, fields)) {
    const key = unescapeText(scan.bytes, fields.keyStart, fields.keyEnd)
    const value = scalarText(scan, fields.start, fields.end)
    if (key === 'attr__class') classes = classNames(scan, fields.start, value)
    if (value === null) continue
    if (key.startsWith('attr__')) attributes.set(key, value)
    if (key === 'tag_name') tagName = value
    else if (key === '$el_text') setUnlessEmpty(attributes, 'text', value.slice(0, textCharsMax))
    else if (key === 'attr__href') setUnlessEmpty(attributes, 'href', value.slice(0, hrefCharsMax))
    else if (key === 'attr__id') setUnlessEmpty(attributes, 'attr_id', value)
    else if (key === 'nth_child') nthChild = value
    else if (key === 'nth_of_type') nthOfType = value
  }
  attributes.set('nth-child', nthChild).set('nth-of-type', nthOfType)
  const sorted = [...attributes].sort(([a], [b]) => collator.compare(a, b) || (a < b ? -1 : 1))
  const dottedClasses = classes.sort().map((name) => `.${name.replaceAll('"', '')}`)
  const printed = sorted.map(([key, value]) => `${escapeQuotes(key)}="${escapeQuotes(value)}"`)
  return `${tagName}${dottedClasses.join('')}:${printed.join('')}`
}

function setUnlessEmpty(attributes: Map<string, string>, key: string, value: string): void {
  if (value !== '') attributes.set(key, value)
}

/** The classes of `attr__class`: an array of strings, or `text` split at spaces. */
function classNames(scan: Scan, at: number, text: string | null): string[] {
  if (text !== null && text !== '') return text.split(' ')
  if (scan.bytes[at] !== openBracket) return []
  const names: string[] = []
  const members = openMembers(scan, at)
  while (nextMember(scan, members)) {
    const name = scalarText(scan, members.start, members.end)
    if (name !== null) names.push(name)
  }
  return names
}

/** A string's text, a number or boolean as it is printed, null for anything else. */
function scalarText(scan: Scan, start: number, end: number): string | null {
  const first = scan.bytes[start]
  if (first === quote) return unescapeText(scan.bytes, start + 1, end - 1)
  if (first === openBrace || first === openBracket || first === letterN) return null
  return unescapeText(scan.bytes, start, end)
}

function escapeQuotes(text: string): string {
  return text.replaceAll('"', '\\"')
}
