// The batch endpoint of PostHog, of Spate, and of what speaks like them: one can feed another. Events keep their uuids,
// by which the receiver knows those it has, so a chunk delivered again has no second effect there. As in PostHog the
// batches are historical migrations: they are in order, are not charged and are no spikes, and their timestamps are
// right as they are, so there is no sent_at to correct them by.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readUrl } from '../outbound/destination.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { csvRows } from './csv-rows.ts'
import {
  type Column,
  type Delivery,
  DeliveryError,
  type Destination,
  type GiveWay,
  type StagedChunk,
} from './delivery.ts'
import { failingWith } from './delivery-failure.ts'
import { eventText } from './http-event.ts'
import { httpFailure, httpRefusal } from './http-failure.ts'
import { type PostLimits, postJson, postLimits } from './http-post.ts'

const compress = promisify(gzip)

/** PostHog takes 20 MB; proxies before it often less, and are told apart by their 413. */
const bodyBytesMax = 4 * 1024 * 1024
const eventsMax = 5_000

export const httpDestination: Destination = httpDestinationWith(postLimits)

export function httpDestinationWith(limits: PostLimits): Destination {
  return {
    isReplacing: false,
    hasPersonProperties: false,
    format: () => ({ kind: 'csv', compression: null }),
    chunkBytesMax: () => null,
    async open(config, run, outbound): Promise<Delivery> {
      if (run.model !== 'events') {
        throw new DeliveryError(
          'permanent',
          `HTTP takes events, not ${run.model}. Change the model or the destination.`,
        )
      }
      const read = readUrl(String(config.url))
      if (read.kind === 'refused')
        throw new DeliveryError('permanent', `The url is not usable: ${read.reason}`)
      const send = (texts: readonly string[], signal: AbortSignal): Promise<void> =>
        sendBatch({ url: read.url, token: String(config.token), outbound, limits }, texts, signal)
      const deliver = async (
        { path, columns }: StagedChunk,
        signal: AbortSignal,
        giveWay: GiveWay,
      ): Promise<void> => {
        for await (const { texts, bytes } of batches(path, columns)) {
          await send(texts, signal)
          await giveWay(bytes)
        }
      }
      return {
        deliver: (chunk, signal, giveWay = async () => {}) =>
          failingWith(httpFailure, signal, () => deliver(chunk, signal, giveWay)),
        async finish() {},
        async close() {},
      }
    },
  }
}

interface Receiver {
  readonly url: URL
  readonly token: string
  readonly outbound: Pick<Outbound, 'httpAgent' | 'httpsAgent'>
  readonly limits: PostLimits
}

/** Sends events as one batch, or as two halves, and so on, when the receiver finds it too large. */
async function sendBatch(to: Receiver, texts: readonly string[], signal: AbortSignal): Promise<void> {
  const head = `{"api_key":${JSON.stringify(to.token)},"historical_migration":true,"batch":[`
  const body = await compress(`${head}${texts.join(',')}]}`, { level: 1 })
  const { status } = await postJson(to.url, body, to.outbound, signal, to.limits)
  if (status === 413 && texts.length > 1) {
    const half = Math.ceil(texts.length / 2)
    await sendBatch(to, texts.slice(0, half), signal)
    await sendBatch(to, texts.slice(half), signal)
    return
  }
  if (status < 200 || status >= 300) throw httpRefusal(status)
}

interface EventBatch {
  readonly texts: readonly string[]
  /** Of the texts, which is about what they take in the file. */
  readonly bytes: number
}

/** The file's events as JSON, as many at a time as fit into a body; one that is larger alone. */
async function* batches(path: string, columns: readonly Column[]): AsyncGenerator<EventBatch> {
  let texts: string[] = []
  let bytes = 0
  const textOf = eventText(columns)
  for await (const row of csvRows(path)) {
    const text = textOf(row)
    const size = Buffer.byteLength(text) + 1
    if (texts.length > 0 && (bytes + size > bodyBytesMax || texts.length === eventsMax)) {
      yield { texts, bytes }
      texts = []
      bytes = 0
    }
    texts.push(text)
    bytes += size
  }
  if (texts.length > 0) yield { texts, bytes }
}
