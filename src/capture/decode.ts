// From a complete capture request to encoded batches of captured events, or to the reason why not. The one entry of
// this room for whoever has a body in hand; it runs in decode threads, and on the main thread for small bodies.
//
// No JavaScript object is built for an event: the body is scanned once as bytes (scan, event-scan), and each event is
// written to columns from the spans found (event-capture). Measured costs are above the scanner.

import { type ErrorCode, errorRow, isServiceError, ServiceError } from '../errors.ts'
import { releaseMemory } from '../release-memory.ts'
import { checkApiKey } from './api-key.ts'
import { type BodyOutcome, openBody } from './body.ts'
import type { CaptureOutcome, CaptureTask, DropReason } from './capture-task.ts'
import { dropDetails, schemaFaults } from './drop-details.ts'
import { type ElementsCursor, scanMoreElements } from './elements-scan.ts'
import { type Envelope, scanEnvelope } from './envelope.ts'
import { EventCapture } from './event-capture.ts'
import { type CaptureProject, findProject } from './projects.ts'
import { Remarks } from './remarks.ts'
import { openScan, type Scan } from './scan.ts'
import { clearTape, createSpans, createTape, readRecord } from './span-tape.ts'
import { parseSentAt } from './timestamp.ts'

type OpenedBody = Extract<BodyOutcome, { kind: 'text' }>

// One of each for the thread: a request is decoded from beginning to end before the next.
export const tape = createTape()
const spans = createSpans()
const capture = new EventCapture()

/** Decodes one request. Total: whatever the input, the answer is an outcome. */
export function decodeCapture(task: CaptureTask): CaptureOutcome {
  try {
    const body = openBody(task)
    if (body.kind === 'refused') return { ...body, projectId: null }
    const outcome = decodeBody(task, body)
    // What was inflated is nobody else's.
    if (body.bytes.buffer !== task.body.buffer) releaseMemory(body.bytes.buffer)
    return outcome
  } catch (error) {
    if (isServiceError(error)) return refused(error.code, error.detail, null)
    throw error
  }
}

function decodeBody(task: CaptureTask, body: OpenedBody): CaptureOutcome {
  const scan = openScan(body.bytes, true)
  const envelope = scanEnvelope(scan, tape)
  const apiKey = apiKeyOf(envelope)
  const project = findProject(task.projects, apiKey)
  if (project === null) return { kind: 'unknown_key', apiKey, body: task.body }
  if (project.overQuota && !envelope.historical) return overQuota(project, envelope, body)
  openCapture(task, envelope, project, body.sentAtMs)
  const lastDrop = captureAll(scan, envelope.cursor)
  if (envelope.shape === 'single' && lastDrop !== null && endsRequest(lastDrop)) {
    return refuseSingle(lastDrop, project)
  }
  return closeCapture(project, envelope, body)
}

/** The key of the project that the events are for. Errors: api_key_invalid. */
export function apiKeyOf(envelope: Envelope): string {
  const key = checkApiKey(envelope.apiKey)
  if (key.kind === 'refused') throw new ServiceError('api_key_invalid', { detail: key.detail })
  return key.apiKey
}

/** Begins the capture of a request's events. The query's `sent_at` counts where the envelope names none. */
export function openCapture(
  task: CaptureTask,
  envelope: Envelope,
  project: CaptureProject,
  querySentAtMs: number | null,
): void {
  capture.open({
    project,
    clientIp: task.clientIp,
    geoip: task.geoip,
    receivedAtMs: task.receivedAtMs,
    sentAtMs: (envelope.sentAt === null ? null : parseSentAt(envelope.sentAt)) ?? querySentAtMs,
    historical: envelope.historical,
    isEngage: envelope.shape === 'single' && task.path === '/engage',
    recordBytesMax: task.limits.recordBytesMax,
    eventBytesMax: task.limits.eventBytesMax,
  })
}

/** Ends it. */
export function closeCapture(
  project: CaptureProject,
  { historical }: Envelope,
  { decompressedBytes, beacon }: Pick<OpenedBody, 'decompressedBytes' | 'beacon'>,
): CaptureOutcome {
  return {
    kind: 'captured',
    projectId: project.id,
    historical,
    ...capture.close(),
    decompressedBytes,
    beacon,
  }
}

/** Ends it without an outcome, and frees what was captured: the same body is decoded again. */
export function abandonCapture(): void {
  for (const { payload } of capture.close().parts) releaseMemory(payload.buffer)
}

/** Captures the events of the tape and those behind it. Returns why the last one was dropped. */
function captureAll(scan: Scan, cursor: ElementsCursor): DropReason | null {
  for (;;) {
    const drop = captureTape(scan)
    if (cursor.resumeAt < 0) return drop
    clearTape(tape)
    scanMoreElements(scan, tape, cursor)
  }
}

/** Captures the events of the tape. Returns why the last one was dropped. */
export function captureTape(scan: Scan): DropReason | null {
  let drop: DropReason | null = null
  for (let at = 0; at < tape.used; ) {
    at = readRecord(tape, at, spans)
    drop = capture.capture(scan, spans)
  }
  return drop
}

function overQuota(project: CaptureProject, envelope: Envelope, body: OpenedBody): CaptureOutcome {
  const drops = new Remarks<DropReason>()
  drops.addUnseen('over_quota', envelope.cursor.count, dropDetails.over_quota)
  return {
    kind: 'captured',
    projectId: project.id,
    historical: envelope.historical,
    parts: [],
    eventCount: 0,
    drops: drops.list(),
    warnings: [],
    decompressedBytes: body.decompressedBytes,
    beacon: body.beacon,
  }
}

/** Whether a drop of the only event of a body is a fault of the whole request. */
function endsRequest(reason: DropReason): boolean {
  return reason === 'event_name_missing' || schemaFaults.has(reason)
}

function refuseSingle(reason: DropReason, project: CaptureProject): CaptureOutcome {
  if (reason === 'cookieless_mode_invalid') {
    return refused('cookieless_mode_invalid', errorRow('cookieless_mode_invalid').detail, project.id)
  }
  if (reason === 'event_name_missing') {
    const detail = `${errorRow('payload_unhydratable').detail}: non-engage request missing event name attribute`
    return refused('payload_unhydratable', detail, project.id)
  }
  const detail = `${errorRow('payload_unparseable').detail}: ${dropDetails[reason]}`
  return refused('payload_unparseable', detail, project.id)
}

function refused(code: ErrorCode, detail: string, projectId: number | null): CaptureOutcome {
  return { kind: 'refused', code, detail, projectId }
}
