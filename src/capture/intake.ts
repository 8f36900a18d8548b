// The way of one capture request on the main thread: admit, decode (here, with others, or in the pool),
// append, answer. The answer is 200 only when the events are on disk.

import { isIP } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { GeoipFiles } from '../geoip/database.ts'
import { emptyReply, type HttpReply, type HttpRequest, jsonReply } from '../http/route.ts'
import { unreachable } from '../lib/assert.ts'
import { appendCaptured } from './capture-append.ts'
import type { CaptureLimits, CapturePath, CaptureTask, DecodedRequest } from './capture-task.ts'
import type { DecodePool } from './decode-pool.ts'
import type { JoinedRequest, TurnCapture, TurnCaptureOptions } from './turn-capture.ts'

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

export interface IntakeOptions extends TurnCaptureOptions {
  readonly pool: DecodePool
  readonly projects: ProjectSource
  readonly limits: CaptureLimits
  /** Where addresses are; null when nobody knows. */
  readonly geoip: GeoipFiles | null
}

/** Returns the handler of one capture path. Small requests of all paths go through the same `turn`. */
export function captureHandler(
  path: CapturePath,
  options: IntakeOptions,
  turn: TurnCapture,
): (request: HttpRequest) => Promise<HttpReply> {
  const inlineLimits = {
    ...options.limits,
    decompressedBytesMax: Math.min(inlineDecompressedBytesMax, options.limits.decompressedBytesMax),
  }
  return async (request) => {
    const task = taskOf(path, request, options, inlineLimits, turn.receivedAtMs())
    let outcome = decodeInline(task, turn) ?? (await decodeElsewhere(task, options, request))
    if (outcome.kind === 'unknown_key') outcome = await decodeAgain(task, outcome, options, turn, request)
    switch (outcome.kind) {
      case 'joined':
        await outcome.appended
        return outcome.beacon ? beaconReply : okReply
      case 'captured':
        await appendCaptured(outcome, outcome.events, options)
        return outcome.beacon ? beaconReply : okReply
      case 'refused':
        throw new ServiceError(outcome.code, { detail: outcome.detail })
      case 'unknown_key':
        giveBack(request, outcome)
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
  receivedAtMs: number,
): CaptureTask {
  return {
    path,
    query: request.query,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
    body: request.body,
    clientIp: clientIpOf(request),
    receivedAtMs,
    projects: options.projects.snapshot(),
    limits,
    geoip: options.geoip,
  }
}

/** Decodes a small body at once; null when it is not small, as sent or inflated. */
function decodeInline(task: CaptureTask, turn: TurnCapture): DecodedRequest | JoinedRequest | null {
  if (task.body.byteLength > inlineBytesMax) return null
  const outcome = turn.decode(task)
  return outcome.kind === 'refused' && outcome.code === 'body_too_large' ? null : outcome
}

/** Decodes in the pool with the full limits, so that no bomb holds the main thread up. */
function decodeElsewhere(
  task: CaptureTask,
  { pool, limits }: IntakeOptions,
  { giveBack }: HttpRequest,
): Promise<DecodedRequest> {
  return pool.run({ ...task, limits }, giveBack)
}

/** The key was not in the snapshot: asks the key store, and decodes again if it knows the key. */
async function decodeAgain(
  task: CaptureTask,
  unknown: DecodedRequest & { kind: 'unknown_key' },
  options: IntakeOptions,
  turn: TurnCapture,
  request: HttpRequest,
): Promise<DecodedRequest | JoinedRequest> {
  try {
    const answer = await options.projects.lookUp(unknown.apiKey)
    switch (answer) {
      case 'found': {
        const again = { ...task, body: unknown.body, projects: options.projects.snapshot() }
        return decodeInline(again, turn) ?? (await decodeElsewhere(again, options, request))
      }
      case 'unknown':
        return unknown
      case 'unavailable':
        throw new ServiceError('projects_unavailable', { retryAfterSeconds: 5 })
      default:
        return unreachable(answer)
    }
  } catch (error) {
    giveBack(request, unknown)
    throw error
  }
}

/** Gives lent memory back that came here with its body, unless it has been moved again. */
function giveBack(request: HttpRequest, { body }: DecodedRequest & { kind: 'unknown_key' }): void {
  if (body.byteLength > 0) request.giveBack?.(body.buffer)
}

/** First entry of X-Forwarded-For, in either spelling, without its port; else the socket's address. */
export function clientIpOf(request: Pick<HttpRequest, 'headers' | 'peerAddress'>): string {
  const forwarded = request.headers['x-forwarded-for'] || request.headers.http_x_forwarded_for
  if (forwarded === '') return request.peerAddress
  const first = (forwarded.split(',', 1)[0] as string).trim() // a split has at least one piece
  const withoutPort = first.replace(/^\[(.+)\](?::\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return isIP(withoutPort) === 0 ? request.peerAddress : withoutPort
}
