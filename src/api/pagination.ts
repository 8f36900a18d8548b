// Lists in pages of limit and offset, in the envelope {count, next, previous, results}.

import type { TSchema } from 'typebox'
import { Type } from './schema.ts'

const limitDefault = 100
const limitMax = 1000
/** Postgres counts an offset in 64 bits; nobody has that many rows. */
const offsetMax = 1_000_000_000

export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface Envelope<T> {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: readonly T[]
}

/** What a list operation takes besides its own filters. Ill-formed values are not errors: the defaults hold. */
export const pageQuery = {
  limit: lenient(`Results per page, ${limitDefault} when absent, at most ${limitMax}.`),
  offset: lenient('Index of the first result.'),
}

function lenient(description: string) {
  return Type.Optional(Type.Unsafe<unknown>({ type: 'integer', 'x-lenient': true, description }))
}

export function envelopeOf(item: TSchema): TSchema {
  const link = Type.Union([Type.String({ format: 'uri' }), Type.Null()])
  return Type.Object({ count: Type.Integer(), next: link, previous: link, results: Type.Array(item) })
}

/** The page that a query string asks for. */
export function pageOf(query: string): Page {
  const params = new URLSearchParams(query)
  const limit = positive(params.get('limit'))
  return {
    limit: limit > 0 ? Math.min(limit, limitMax) : limitDefault,
    offset: Math.min(positive(params.get('offset')), offsetMax),
  }
}

function positive(text: string | null): number {
  return text !== null && /^\s*\+?\d+\s*$/.test(text) ? Number(text) : 0
}

/** Wraps a page's results. `url` is this request's own address with its query string. */
export function envelope<T>(url: string, page: Page, count: number, results: readonly T[]): Envelope<T> {
  const { limit, offset } = page
  const next = offset + limit >= count ? null : linkTo(url, { limit, offset: offset + limit })
  const back = offset - limit
  const previous = offset <= 0 ? null : linkTo(url, { limit, offset: back > 0 ? back : null })
  return { count, next, previous, results }
}

/** `url` with some query parameters set, or left out where null; all sorted by name. */
export function linkTo(url: string, changed: Readonly<Record<string, string | number | null>>): string {
  // Only the first question mark ends the address: those behind it belong to the query.
  const mark = url.indexOf('?')
  const [address, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
  const params = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changed)) {
    if (value === null) params.delete(name)
    else params.set(name, String(value))
  }
  params.sort()
  return params.size === 0 ? address : `${address}?${params}`
}
