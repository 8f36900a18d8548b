// Builds capture tasks for tests and reads back what became of them.

import {
  type CaptureOutcome,
  type CaptureTask,
  capturePaths,
  type DecodedRequest,
} from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { encodedEvents } from '../../src/capture/encoded-events.ts'
import { EventFlag, openEventBatch, type TextColumnName } from '../../src/capture/event-batch.ts'
import { personText } from '../../src/capture/person-pieces.ts'
import { encodeProjects } from '../../src/capture/projects.ts'
import { textValue } from '../../src/capture/text-column.ts'
import { formatUuid } from '../../src/lib/uuid.ts'
import type { JsonObject } from './plain-decode.ts'

export const now = Date.UTC(2024, 4, 1, 12)

const projects = encodeProjects([
  { id: 1, apiKey: 'phc_test', anonymizeIps: false, overQuota: false },
  { id: 2, apiKey: 'phc_private', anonymizeIps: true, overQuota: false },
  { id: 3, apiKey: 'phc_over', anonymizeIps: false, overQuota: true },
])

/** A task with `body` as its JSON text, or printed as such. */
export function task(body: unknown, changes: Partial<CaptureTask> = {}): CaptureTask {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    path: capturePaths[0],
    query: '',
    contentType: 'application/json',
    contentEncoding: '',
    body: new Uint8Array(Buffer.from(text)),
    clientIp: '203.0.113.7',
    receivedAtMs: now,
    projects,
    geoip: null,
    limits: {
      decompressedBytesMax: 160 * 1024 * 1024,
      recordBytesMax: 8 * 1024 * 1024,
      eventBytesMax: 20 * 1024 * 1024,
    },
    ...changes,
  }
}

/** One stored event, columns as they are. */
export interface Row {
  event: string
  distinctId: string
  uuid: string
  bornId: string
  micros: number
  flags: string[]
  properties: string
  person: string
  elementsChain: string
  dedupKey: number[]
}

/** What a thread of the pool answers when it decodes so. */
export function decodedOf(outcome: CaptureOutcome): DecodedRequest {
  if (outcome.kind !== 'captured') return outcome
  const { parts, ...captured } = outcome
  return { ...captured, events: encodedEvents(parts) }
}

export type Captured = Extract<CaptureOutcome, { kind: 'captured' }>

/** The rows of all parts, in order. */
export function rowsOf(outcome: Captured): Row[] {
  return outcome.parts.flatMap((part) => {
    const batch = openEventBatch(part.payload)
    const text = (name: TextColumnName, index: number) => textValue(batch.text[name], index)
    return Array.from({ length: batch.header.count }, (_, index) => ({
      event: text('event', index),
      distinctId: text('distinctId', index),
      uuid: formatUuid(batch.uuids, index * 16),
      bornId: formatUuid(batch.bornIds, index * 16),
      micros: batch.timestamps[index] ?? Number.NaN,
      flags: Object.entries(EventFlag).flatMap(([name, bit]) =>
        (batch.flags[index] ?? 0) & bit ? [name] : [],
      ),
      properties: text('properties', index),
      person: personText(batch, index),
      elementsChain: text('elementsChain', index),
      dedupKey: [...part.dedupKeys.subarray(index * 2, index * 2 + 2)],
    }))
  })
}

const stringsAndSpaces = /"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g

/**
 * A row without the id that is drawn anew each time, and without the spaces between tokens: those around a member are
 * dropped when its object was rewritten, which depends on what else the thread has decoded.
 */
export function comparableRow(row: Row): Row {
  const tight = (text: string): string =>
    text.replaceAll(stringsAndSpaces, (token) => (token.startsWith('"') ? token : ''))
  const uuid = row.dedupKey.some((word) => word > 0) ? row.uuid : ''
  return { ...row, uuid, properties: tight(row.properties), person: tight(row.person) }
}

/** Decodes a body that must be captured. */
export function captured(body: unknown, changes: Partial<CaptureTask> = {}): Captured {
  const outcome = decodeCapture(task(body, changes))
  if (outcome.kind !== 'captured') throw new Error(`expected captured, got ${JSON.stringify(outcome)}`)
  return outcome
}

/** The stored events of a body. */
export function rows(body: unknown, changes: Partial<CaptureTask> = {}): Row[] {
  return rowsOf(captured(body, changes))
}

/** The stored event of an envelope around `event` alone. */
export function row(event: unknown, changes: Partial<CaptureTask> = {}): Row {
  const [only, ...others] = rows({ api_key: 'phc_test', batch: [event] }, changes)
  if (only === undefined || others.length > 0) throw new Error('expected one stored event')
  return only
}

/** The stored properties of an envelope around `event` alone. */
export function propertiesOf(event: unknown, changes: Partial<CaptureTask> = {}): JsonObject {
  return JSON.parse(row(event, changes).properties)
}

/** `code: detail` of a body that must be refused. */
export function refusal(body: unknown, changes: Partial<CaptureTask> = {}): string {
  const outcome = decodeCapture(task(body, changes))
  if (outcome.kind !== 'refused') throw new Error(`expected a refusal, got ${outcome.kind}`)
  return `${outcome.code}: ${outcome.detail}`
}

/** How many events were dropped, by reason. */
export function dropsOf(outcome: Captured): Record<string, number> {
  return Object.fromEntries(outcome.drops.map((drop) => [drop.reason, drop.count]))
}

/** How many warnings there are, by reason. */
export function warningsOf(outcome: Captured): Record<string, number> {
  return Object.fromEntries(outcome.warnings.map((warning) => [warning.reason, warning.count]))
}
