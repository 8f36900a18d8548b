// From a complete capture request to encoded batches of captured events, or to the reason why not. The one entry of
// this room for whoever has a body in hand. It runs in decode threads, where a batch holds one request, and for small
// bodies on the main thread, where those that come together share one (turn-capture).
//
// No JavaScript object is built for an event: the body is scanned once as bytes (scan, event-scan), and each event is
// written to columns from the spans found (event-capture). Measured costs are above the scanner.

import { type ErrorCode, errorRow, isServiceError, ServiceError } from '../errors.ts'
import { releaseMemory } from '../release-memory.ts'
import { checkApiKey } from './api-key.ts'
import { type BodyOutcome, openBody } from './body.ts'
import { BornIds } from './born-ids.ts'
import type {
  CapturedRequest,
  CaptureOutcome,
  CaptureTask,
  DropReason,
  UncapturedRequest,
} from './capture-task.ts'
import { dropDetails, schemaFaults } from './drop-details.ts'
import { type ElementsCursor, scanMoreElements } from './elements-scan.ts'
import { type Envelope, scanEnvelope } from './envelope.ts'
import { type CaptureFacts, EventCapture } from './event-capture.ts'
import { addIds } from './event-facts.ts'
import { type CaptureProject, findProject } from './projects.ts'
import { Remarks } from './remarks.ts'
import { openScan, type Scan } from './scan.ts'
import { clearTape, createSpans, createTape, readRecord } from './span-tape.ts'
import { parseSentAt } from './timestamp.ts'

/** Opens captures: where the events of a request go. */
export interface CaptureTarget {
  /** Begins a request in a batch that is for its project, lane and time. */
  open(facts: CaptureFacts): EventCapture
}

type OpenedBody = Extract<BodyOutcome, { kind: 'text' }>

// One of each for the thread: a request is decoded from beginning to end before the next.
export const tape = createTape()
const spans = createSpans()
/** Of the thread. */
export const bornIds = new BornIds(tape.run.bornSlots)
const alone = new EventCapture(bornIds)

/** The target of a request that has a batch to itself. */
const aloneTarget: CaptureTarget = {
  open(facts) {
    alone.openBatch(facts)
    alone.open(facts)
    return alone
  },
}

/** Decodes one request. Total: whatever the input, the answer is an outcome. */
export function decodeCapture(task: CaptureTask): CaptureOutcome {
  const outcome = decodeInto(aloneTarget, task)
  return outcome.kind === 'captured' ? { ...outcome, parts: alone.closeBatch() } : outcome
}

/** Decodes one request. Its events are left in the batch that `target` opened, unless it is refused. Total. */
export function decodeInto(target: CaptureTarget, task: CaptureTask): CapturedRequest | UncapturedRequest {
  try {
    const body = openBody(task)
    if (body.kind === 'refused') return { ...body, projectId: null }
    const outcome = decodeBody(target, task, body)
    // What was inflated is nobody else's.
    if (body.bytes.buffer !== task.body.buffer) releaseMemory(body.bytes.buffer)
    return outcome
  } catch (error) {
    if (isServiceError(error)) return refused(error.code, error.detail, null)
    throw error
  }
}

function decodeBody(
  target: CaptureTarget,
  task: CaptureTask,
  body: OpenedBody,
): CapturedRequest | UncapturedRequest {
  const scan = openScan(body.bytes, true)
  const envelope = scanEnvelope(scan, tape)
  const apiKey = apiKeyOf(envelope)
  const project = findProject(task.projects, apiKey)
  if (project === null) return { kind: 'unknown_key', apiKey, body: task.body }
  if (project.overQuota && !envelope.historical) return overQuota(project, envelope, body)
  const capture = target.open(factsOf(task, envelope, project, body.sentAtMs))
  const lastDrop = captureAll(capture, scan, envelope.cursor)
  if (envelope.shape === 'single' && lastDrop !== null && endsRequest(lastDrop)) {
    return refuseSingle(lastDrop, project)
  }
  return close(capture, project, envelope, body)
}

/** The key of the project that the events are for. Errors: api_key_invalid. */
export function apiKeyOf(envelope: Envelope): string {
  const key = checkApiKey(envelope.apiKey)
  if (key.kind === 'refused') throw new ServiceError('api_key_invalid', { detail: key.detail })
  return key.apiKey
}

/** Begins the capture of the events of a request that has a batch to itself. */
export function openCapture(
  task: CaptureTask,
  envelope: Envelope,
  project: CaptureProject,
  querySentAtMs: number | null,
): EventCapture {
  return aloneTarget.open(factsOf(task, envelope, project, querySentAtMs))
}

/** The query's `sent_at` counts where the envelope names none. */
function factsOf(
  task: CaptureTask,
  envelope: Envelope,
  project: CaptureProject,
  querySentAtMs: number | null,
): CaptureFacts {
  return {
    project,
    clientIp: task.clientIp,
    geoip: task.geoip,
    receivedAtMs: task.receivedAtMs,
    sentAtMs: (envelope.sentAt === null ? null : parseSentAt(envelope.sentAt)) ?? querySentAtMs,
    historical: envelope.historical,
    isEngage: envelope.shape === 'single' && task.path === '/engage',
    recordBytesMax: task.limits.recordBytesMax,
    eventBytesMax: task.limits.eventBytesMax,
  }
}

/** Ends it. */
export function closeCapture(
  project: CaptureProject,
  envelope: Envelope,
  body: Pick<OpenedBody, 'decompressedBytes' | 'beacon'>,
): CaptureOutcome {
  return { ...close(alone, project, envelope, body), parts: alone.closeBatch() }
}

function close(
  capture: EventCapture,
  project: CaptureProject,
  { historical }: Envelope,
  { decompressedBytes, beacon }: Pick<OpenedBody, 'decompressedBytes' | 'beacon'>,
): CapturedRequest {
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
  alone.close()
  for (const { payload } of alone.closeBatch()) releaseMemory(payload.buffer)
}

/** Captures the events of the tape and those behind it. Returns why the last one was dropped. */
function captureAll(capture: EventCapture, scan: Scan, cursor: ElementsCursor): DropReason | null {
  for (;;) {
    const drop = captureTape(capture, scan)
    if (cursor.resumeAt < 0) return drop
    clearTape(tape)
    scanMoreElements(scan, tape, cursor)
  }
}

/** Captures the events of the tape. Returns why the last one was dropped. */
export function captureTape(capture: EventCapture, scan: Scan): DropReason | null {
  let drop: DropReason | null = null
  addIds(tape.run, tape.used, capture.projectId)
  for (let at = 0; at < tape.used; ) {
    at = readRecord(tape, at, spans)
    drop = capture.capture(scan, spans)
  }
  return drop
}

function overQuota(project: CaptureProject, envelope: Envelope, body: OpenedBody): CapturedRequest {
  const drops = new Remarks<DropReason>()
  drops.addUnseen('over_quota', envelope.cursor.count, dropDetails.over_quota)
  return {
    kind: 'captured',
    projectId: project.id,
    historical: envelope.historical,
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

function refuseSingle(reason: DropReason, project: CaptureProject): UncapturedRequest {
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

function refused(code: ErrorCode, detail: string, projectId: number | null): UncapturedRequest {
  return { kind: 'refused', code, detail, projectId }
}
