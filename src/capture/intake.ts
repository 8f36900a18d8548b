// The way of one capture request on the main thread: admit, decode (here or in the pool), append, answer. The answer
// is 200 only when the events are on disk.

import { isIP } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { GeoipFiles } from '../geoip/database.ts'
import { emptyReply, type HttpReply, type HttpRequest, jsonReply } from '../http/route.ts'
import type { Journal, JournalPart, Position } from '../journal/journal.ts'
import { unreachable } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import type {
  CaptureLimits,
  CaptureOutcome,
  CapturePath,
  CaptureTask,
  DropReason,
  Remark,
  WarningReason,
} from './capture-task.ts'
import { decodeCapture } from './decode.ts'
import type { DecodePool } from './decode-pool.ts'

/** A body up to this size, as sent and inflated, is decoded on the main thread: a hop costs more than the work. */
const inlineBytesMax = 16 * 1024
const inlineDecompressedBytesMax = 64 * 1024

const okReply = jsonReply(200, { status: 'Ok' })
const beaconReply = emptyReply(204)

/** The known projects, as this room needs them. */
export interface ProjectSource {
  snapshot(): SharedArrayBuffer
  /** Looks a key up that the snapshot does not hold; after `found` the snapshot holds it. */
  lookUp(apiKey: string): Promise<'found' | 'unknown' | 'unavailable'>
}

/** Told of every captured request, once its events are on disk. */
export interface CaptureObserver {
  captured(capture: CaptureReport): void
}

export interface CaptureReport {
  readonly projectId: number
  readonly eventCount: number
  readonly duplicateCount: number
  readonly historical: boolean
  /** Where its events end in their lane; null when there are none. */
  readonly end: Position | null
  /** Of its realtime identity events, 16 bytes each. */
  readonly identityBornIds: Uint8Array
  readonly decompressedBytes: number
  readonly drops: readonly Remark<DropReason>[]
  readonly warnings: readonly Remark<WarningReason>[]
}

export interface IntakeOptions {
  readonly journal: Pick<Journal, 'append'>
  readonly pool: DecodePool
  readonly projects: ProjectSource
  readonly limits: CaptureLimits
  /** Where addresses are; null when nobody knows. */
  readonly geoip: GeoipFiles | null
  readonly clock: Clock
  readonly observer: CaptureObserver
}

/** Returns the handler of one capture path. */
export function captureHandler(
  path: CapturePath,
  options: IntakeOptions,
): (request: HttpRequest) => Promise<HttpReply> {
  const inlineLimits = {
    ...options.limits,
    decompressedBytesMax: Math.min(inlineDecompressedBytesMax, options.limits.decompressedBytesMax),
  }
  return async (request) => {
    const task = taskOf(path, request, options, inlineLimits)
    let outcome = decodeInline(task) ?? (await decodeElsewhere(task, options))
    if (outcome.kind === 'unknown_key') outcome = await decodeAgain(task, outcome, options)
    switch (outcome.kind) {
      case 'captured':
        return await append(outcome, options)
      case 'refused':
        throw new ServiceError(outcome.code, { detail: outcome.detail })
      case 'unknown_key':
        throw new ServiceError('api_key_unknown')
      default:
        return unreachable(outcome)
    }
  }
}

function taskOf(
  path: CapturePath,
  request: HttpRequest,
  options: IntakeOptions,
  limits: CaptureLimits,
): CaptureTask {
  return {
    path,
    query: request.query,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
    body: request.body,
    clientIp: clientIpOf(request),
    receivedAtMs: options.clock.nowMs(),
    projects: options.projects.snapshot(),
    limits,
    geoip: options.geoip,
  }
}

/** Decodes a small body at once; null when it is not small, as sent or inflated. */
function decodeInline(task: CaptureTask): CaptureOutcome | null {
  if (task.body.byteLength > inlineBytesMax) return null
  const outcome = decodeCapture(task)
  return outcome.kind === 'refused' && outcome.code === 'body_too_large' ? null : outcome
}

/** Decodes in the pool with the full limits, so that no bomb holds the main thread up. */
function decodeElsewhere(task: CaptureTask, { pool, limits }: IntakeOptions): Promise<CaptureOutcome> {
  return pool.run({ ...task, limits })
}

/** The key was not in the snapshot: asks the key store, and decodes again if it knows the key. */
async function decodeAgain(
  task: CaptureTask,
  unknown: CaptureOutcome & { kind: 'unknown_key' },
  options: IntakeOptions,
): Promise<CaptureOutcome> {
  const answer = await options.projects.lookUp(unknown.apiKey)
  switch (answer) {
    case 'found': {
      const again = { ...task, body: unknown.body, projects: options.projects.snapshot() }
      return decodeInline(again) ?? (await decodeElsewhere(again, options))
    }
    case 'unknown':
      return unknown
    case 'unavailable':
      throw new ServiceError('projects_unavailable', { retryAfterSeconds: 5 })
    default:
      return unreachable(answer)
  }
}

async function append(
  outcome: CaptureOutcome & { kind: 'captured' },
  options: IntakeOptions,
): Promise<HttpReply> {
  const { projectId, eventCount, historical, decompressedBytes, drops, warnings } = outcome
  let duplicateCount = 0
  let end: Position | null = null
  const identityBornIds = historical ? [] : outcome.parts.map((part) => part.identityBornIds)
  if (outcome.parts.length > 0) {
    const parts: JournalPart[] = outcome.parts.map(({ payload, eventCount, dedupKeys }) => ({
      kind: 'events',
      payload,
      eventCount,
      dedupKeys,
    }))
    const appended = await options.journal.append(historical ? 'historical' : 'realtime', parts)
    duplicateCount = appended.duplicateCount
    end = appended.end
  }
  options.observer.captured({
    projectId,
    eventCount,
    duplicateCount,
    historical,
    end,
    identityBornIds: identityBornIds.length === 1 ? identityBornIds[0]! : Buffer.concat(identityBornIds),
    decompressedBytes,
    drops,
    warnings,
  })
  return outcome.beacon ? beaconReply : okReply
}

/** First entry of X-Forwarded-For, in either spelling, without its port; else the socket's address. */
export function clientIpOf(request: Pick<HttpRequest, 'headers' | 'peerAddress'>): string {
  const forwarded = request.headers['x-forwarded-for'] || request.headers.http_x_forwarded_for
  if (forwarded === '') return request.peerAddress
  const first = (forwarded.split(',', 1)[0] as string).trim() // a split has at least one piece
  const withoutPort = first.replace(/^\[(.+)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return isIP(withoutPort) === 0 ? request.peerAddress : withoutPort
}
