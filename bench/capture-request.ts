// Requests of the corpus, as SDKs and migration scripts send them. A request is a function of (corpus, client,
// number) alone: a client that must send it again makes it again, and an oracle's uuids name the request they belong
// to, so that a row found in a store leads back to its request without an index.

import { gzipSync as gzipZlib } from 'node:zlib'
import { gzipSync } from 'fflate'
import type { Lane } from '../src/journal/journal.ts'
import { type Corpus, type CorpusEvent, drawEvent, eventText, storedEvent } from './corpus.ts'
import { createRandom } from './random.ts'
import { eventHashBytes, hashEvent } from './stored-event.ts'

/** Shapes of a request: how many events it holds, how many of them tell who is who, and who would send it so. */
export const shapes = {
  /** One event to /capture/, plain JSON. */
  single: { eventCount: 1, lane: 'realtime', identityShare: 0.2 },
  /** What posthog-js flushes: 20 events to /batch/, gzip. */
  batch: { eventCount: 20, lane: 'realtime', identityShare: 0.2 },
  /** A busy server's flush: 1000 events, gzip. */
  large: { eventCount: 1000, lane: 'realtime', identityShare: 0.2 },
  /** A step of a migration script: 200 past events. */
  historical: { eventCount: 200, lane: 'historical', identityShare: 0.2 },
  /** About the largest body a migration script may send: 140 MB that gzip packs into 19 MB. */
  bulk: { eventCount: 120_000, lane: 'historical', identityShare: 0 },
  /** The same at a quarter of the size. */
  smallBulk: { eventCount: 30_000, lane: 'historical', identityShare: 0 },
  /** Five good events under a project API key that does not exist: refused with 401. */
  unknownKey: { eventCount: 5, lane: 'realtime', identityShare: 0.2 },
  /** Five good events in a gzip body that ends early: refused with 400. */
  truncated: { eventCount: 5, lane: 'realtime', identityShare: 0.2 },
} as const satisfies Record<string, { eventCount: number; lane: Lane; identityShare: number }>

export type Shape = keyof typeof shapes

export const unknownProjectApiKey = 'phc_benchUnknownKeyOfNobody'

export interface CaptureRequest {
  readonly shape: Shape
  readonly lane: Lane
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly events: readonly CorpusEvent[]
}

/** Builds request `number` of client `client`. */
export function buildRequest(corpus: Corpus, client: number, number: number, shape: Shape): CaptureRequest {
  const { eventCount, lane, identityShare } = shapes[shape]
  const random = createRandom(corpus.seed, client, number)
  const events: CorpusEvent[] = []
  for (let index = 0; index < eventCount; index++) {
    const place = { lane, request: number, index, identityShare }
    events.push(drawEvent(corpus, random, uuidOf({ client, number, index }), place))
  }
  return { shape, lane, events, ...encode(corpus, shape, events.map(eventText)) }
}

/** `hashEvent` of what the store must hold of each event, 8 bytes an event in their order. */
export function hashRequest(request: CaptureRequest): Uint8Array {
  const hashes = new Uint8Array(request.events.length * eventHashBytes)
  for (const [index, event] of request.events.entries())
    hashes.set(hashEvent(storedEvent(event, request.lane === 'historical')), index * eventHashBytes)
  return hashes
}

/** Which event of which request a uuid stands for. */
export interface EventName {
  readonly client: number
  readonly number: number
  readonly index: number
}

const uuidPattern = /^be9c4000-([0-9a-f]{4})-4000-8000-([0-9a-f]{6})([0-9a-f]{6})$/

/** The uuid of an event: be9c4000-<client>-4000-8000-<number><index>, of the form of version 4. */
export function uuidOf({ client, number, index }: EventName): string {
  return `be9c4000-${hex(client, 4)}-4000-8000-${hex(number, 6)}${hex(index, 6)}`
}

/** The event that a uuid stands for; null when it is none of ours. */
export function eventOfUuid(uuid: string): EventName | null {
  const match = uuidPattern.exec(uuid)
  if (match === null) return null
  const [client, number, index] = match.slice(1).map((digits) => Number.parseInt(digits, 16))
  return { client: client!, number: number!, index: index! } // the pattern has three groups
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function encode(
  corpus: Corpus,
  shape: Shape,
  texts: string[],
): Pick<CaptureRequest, 'path' | 'headers' | 'body'> {
  const json = { 'content-type': 'application/json' }
  const gzip = { ...json, 'content-encoding': 'gzip' }
  const key = corpus.projectApiKey
  switch (shape) {
    case 'single':
      // The event's own object takes the key, as in a call of the capture API.
      return { path: '/capture/', headers: json, body: utf8(`{"api_key":"${key}",${texts[0]!.slice(1)}`) }
    case 'batch':
    case 'large':
      return {
        path: '/batch/',
        headers: gzip,
        body: gzipSync(utf8(envelope(key, texts, false)), { mtime: 0 }),
      }
    case 'historical':
    case 'bulk':
    case 'smallBulk':
      return { path: '/batch/', headers: gzip, body: gzipZlib(utf8(envelope(key, texts, true))) }
    case 'unknownKey':
      return { path: '/batch/', headers: json, body: utf8(envelope(unknownProjectApiKey, texts, false)) }
    case 'truncated': {
      const whole = gzipSync(utf8(envelope(key, texts, false)), { mtime: 0 })
      return { path: '/batch/', headers: gzip, body: whole.subarray(0, whole.length >> 1) }
    }
  }
}

/**
 * Without `sent_at`: with it the server would shift timestamps by the difference of clocks, and the oracle could not
 * say which timestamp must be stored.
 */
function envelope(projectApiKey: string, texts: string[], historical: boolean): string {
  const flag = historical ? ',"historical_migration":true' : ''
  return `{"api_key":"${projectApiKey}"${flag},"batch":[${texts.join(',')}]}`
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text)
}
