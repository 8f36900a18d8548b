// What a kind of malformed request is, and the small tools to make them. All randomness comes from one seed.

import { testProjectApiKey } from '../support/client.ts'

/** Numbers from 0 to 1, the same for the same seed. */
export type Random = () => number

/** Sound HTTP around a bad body. */
export interface BodySample {
  readonly kind: 'body'
  /** With query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Bytes on a connection, which then waits for an answer, ends its side, or is reset. */
export interface WireSample {
  readonly kind: 'wire'
  readonly bytes: Buffer
  readonly then: 'wait' | 'end' | 'reset'
}

export type Sample = BodySample | WireSample

export interface Kind {
  readonly name: string
  /** Requests of this kind; null: an equal share of what the others leave. */
  readonly count: number | null
  /** What may come of it: a status, or `closed` when the connection ends without an answer. */
  readonly expected: RegExp
  /** Events named `odd` that one such request stores. Everything else in it is named `broken` and is not stored. */
  readonly stored: number
  readonly make: (random: Random) => Sample
}

/** A request to be refused. */
export function bad(name: string, expected: RegExp, make: Kind['make'], count: number | null = null): Kind {
  return { name, count, expected, stored: 0, make }
}

/** A strange request that is sound all the same: it is taken, and stores `stored` events. */
export function odd(name: string, stored: number, make: Kind['make'], count: number | null = null): Kind {
  return { name, count, expected: /^200$/, stored, make }
}

export function integer(random: Random, below: number): number {
  return Math.floor(random() * below)
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[integer(random, list.length)]! // the index is below the length of a list that is not empty
}

export function randomBytes(random: Random, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => integer(random, 256)))
}

/** A body on its way to one of the paths that take any. */
export function body(random: Random, content: string | Uint8Array, query = ''): BodySample {
  const path = pick(random, ['/e/', '/batch/', '/capture/', '/i/v0/e/', '/track/'])
  const type = pick(random, ['application/json', 'text/plain', 'application/json; charset=utf-8'])
  return { kind: 'body', path: path + query, headers: { 'content-type': type }, body: Buffer.from(content) }
}

/** The text of an envelope with one event, whose properties are the given text. */
export function envelopeText(
  name: 'broken' | 'odd',
  properties = '{"a":1,"b":["two",null]}',
  more = '',
): string {
  const event = `{"event":"${name}","distinct_id":"d",${more}"properties":${properties}}`
  return `{"api_key":"${testProjectApiKey}","batch":[${event}]}`
}

/** An envelope that gzip cannot shorten to nothing. */
export function variedEnvelope(random: Random): string {
  const text = randomBytes(random, 40 + integer(random, 400)).toString('base64')
  return envelopeText('broken', JSON.stringify({ text, n: random() }))
}
