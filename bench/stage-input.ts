// What the stages of ingestion work on: requests of a workload, and what each stage makes of them for the next.

import { gunzipSync } from 'node:zlib'
import type { EncodedPart } from '../src/capture/capture-task.ts'
import { decodeCapture } from '../src/capture/decode.ts'
import { type EventBatch, openEventBatch } from '../src/capture/event-batch.ts'
import { encodeProjects } from '../src/capture/projects.ts'
import type { JournalRecord, Position } from '../src/journal/journal.ts'
import type { Bytes } from '../src/lib/bytes.ts'
import { createCorpus } from './corpus.ts'
import { RequestBytes } from './request-bytes.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

export interface StageInput {
  readonly eventCount: number
  /** Bodies as gzip, and inflated. */
  readonly packed: readonly Bytes[]
  readonly texts: readonly Bytes[]
  /** Bodies in lz64, of `lz64Events` events together. */
  readonly lz64: readonly Bytes[]
  readonly lz64Events: number
  readonly records: readonly JournalRecord[]
  readonly batches: readonly EventBatch[]
}

export const inflatedBytesMax = 1 << 27

const projects = encodeProjects([{ id: 1, apiKey: projectApiKey, anonymizeIps: false, overQuota: false }])
const limits = { decompressedBytesMax: inflatedBytesMax, recordBytesMax: 1 << 23, eventBytesMax: 1 << 24 }
const lz64Requests = 30

/** Requests 0 to count - 1 of batches of 1000 events, and some of 20 in lz64. */
export function stageInput(seed: number, count: number): StageInput {
  const corpus = createCorpus(seed, projectApiKey)
  const { w3, w5 } = { w3: workloadNamed('w3'), w5: workloadNamed('w5') }
  const [large, old] = [new RequestBytes(corpus, w3), new RequestBytes(corpus, w5)]
  const packed = Array.from({ length: count }, (_, number) => bodyOf(large.bytesOf(number)))
  const parts = packed.flatMap(captured)
  const batches = parts.map(({ payload }) => openEventBatch(payload))
  return {
    eventCount: count * w3.eventCount,
    packed,
    texts: packed.map((bytes) => new Uint8Array(gunzipSync(bytes))),
    lz64: Array.from({ length: lz64Requests }, (_, number) => lz64Of(bodyOf(old.bytesOf(number)))),
    lz64Events: lz64Requests * w5.eventCount,
    records: parts.map(recordOf),
    batches,
  }
}

/** What decoding makes of a gzip body. */
export function captured(body: Bytes): EncodedPart[] {
  const outcome = decodeCapture({
    path: '/batch',
    query: '',
    contentType: 'application/json',
    contentEncoding: 'gzip',
    body,
    clientIp: '127.0.0.1',
    receivedAtMs: Date.UTC(2024, 5, 1),
    projects,
    limits,
    geoip: null,
  })
  if (outcome.kind !== 'captured')
    throw new Error(`a request of the corpus was not captured: ${outcome.kind}`)
  return outcome.parts
}

/** What follows the head. */
function bodyOf(request: Buffer): Bytes {
  return new Uint8Array(request.subarray(request.indexOf('\r\n\r\n') + 4))
}

/** The text behind `data=`. */
function lz64Of(form: Bytes): Bytes {
  return new Uint8Array(Buffer.from(decodeURIComponent(Buffer.from(form).toString().slice('data='.length))))
}

/** As the journal would give it back. */
function recordOf({ payload, eventCount }: EncodedPart, index: number): JournalRecord {
  const [position, end] = [index * 1e7, (index + 1) * 1e7]
  // Places that no journal has, but in its order.
  return {
    position: position as Position,
    end: end as Position,
    kind: 'events',
    eventCount,
    duplicates: null,
    payload,
  }
}
