// Turns events as clients send them into what the fold is given, through capture itself.

import { strict as assert } from 'node:assert'
import type { CapturePath } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { type EventBatch, openEventBatch } from '../../src/capture/event-batch.ts'
import { encodeProjects } from '../../src/capture/projects.ts'
import { type EventsInput, type EventsRange, readOperations } from '../../src/identity/operations.ts'

/** An event of a body; numbers that no double holds are written with `raw`. */
export type SentEvent = Readonly<Record<string, unknown>>

export interface SentFacts {
  readonly projectId?: number
  readonly historical?: boolean
  readonly receivedAtMs?: number
}

/** 2024-05-01T12:00:00Z, the time at which tests receive. */
export const nowMs = 1_714_564_800_000

const projects = encodeProjects(
  [1, 2, 3, 42].map((id) => ({ id, apiKey: `phc_${id}`, anonymizeIps: false, overQuota: false })),
)

/** The batch that capture makes of the events; null when it drops all of them. */
export function capturedBatch(events: readonly SentEvent[], facts: SentFacts = {}): EventBatch | null {
  const body = JSON.stringify({
    api_key: `phc_${facts.projectId ?? 1}`,
    historical_migration: facts.historical ?? false,
    batch: events,
  })
  return capturedBody(body, facts)
}

/** The same of a body that is written out. */
export function capturedBody(body: string, facts: SentFacts = {}): EventBatch | null {
  const outcome = decodeCapture({
    path: '/batch' satisfies CapturePath,
    query: '',
    contentType: 'application/json',
    contentEncoding: '',
    body: new Uint8Array(Buffer.from(body)),
    clientIp: '',
    receivedAtMs: facts.receivedAtMs ?? nowMs,
    projects,
    geoip: null,
    limits: { decompressedBytesMax: 1 << 26, recordBytesMax: 1 << 25, eventBytesMax: 1 << 25 },
  })
  assert(outcome.kind === 'captured')
  assert(outcome.parts.length <= 1)
  return outcome.parts[0] === undefined ? null : openEventBatch(outcome.parts[0].payload)
}

/** All events of a batch. */
export function rangeOf(batch: EventBatch): EventsRange {
  return { kind: 'events', batch, duplicates: null, from: 0, to: batch.header.count }
}

/** The same as input of the fold. */
export function inputOf(batch: EventBatch): EventsInput {
  return readOperations(rangeOf(batch), null)
}

/** The uuid that ends in `n`. */
export function uuidOf(n: number): string {
  return `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}
