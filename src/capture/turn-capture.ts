// Small requests that come at about the same time, captured together: those of one project and lane that come one
// behind the other are one event batch, one record of the journal, one append and one acknowledgement. Most of what an
// append costs, here and in every thread behind the journal, it costs once.
//
// Promise: a request stores what it would alone, and is answered when its events are on disk. One that is refused, or
// fails half way, leaves nothing in the batch and costs nobody else anything. A record is in the journal whole or not
// at all, so each of its requests is; if it cannot be appended, all of them hear why.
//
// A batch ends when it holds enough and when a request comes that may not share it. Otherwise at the end of a turn of
// the event loop, in which all sockets were read that were ready (under load dozens): at the same moment the journal
// sends what was appended to its lanes (turn-end), so a request alone is on its way as soon as if it had been appended
// at once. Only while earlier ones are on their way to disk a batch stays open: it could but wait behind them in the
// lane, and takes in meanwhile who else comes. It ends as soon as they are there, so nothing waits for more company.
//
// Single events of 1.2 KB, processor time of an event against a record each, everything included (Node 20.20, a crowded
// machine, builds in turn): over 64 connections 0.81 (0.74 to 0.88), over 256 0.77 (0.47 to 0.85). A record then held
// 32 requests in the mean.

import type { Lane } from '../journal/journal.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { atTurnEnd } from '../turn-end.ts'
import { appendCaptured, type CaptureAppendOptions } from './capture-append.ts'
import type {
  CapturedRequest,
  CaptureTask,
  DecodedRequest,
  DropReason,
  Remark,
  WarningReason,
} from './capture-task.ts'
import { bornIds, type CaptureTarget, decodeInto } from './decode.ts'
import { encodedEvents } from './encoded-events.ts'
import { type CaptureFacts, EventCapture } from './event-capture.ts'

/** A batch lets nobody else in when its requests had so much text. The journal's limit for a record counts too. */
const batchBytesMax = 256 * 1024
/**
 * Or so many events. When they are identity events they are named to readers of their own writes, with a thousand more
 * of the request that comes last: event-batch-builder names so many of a part.
 */
const batchEventsMax = 500
/** Its requests came at most so long after its first one, whose time is that of the record. */
const batchMsMax = 100

export interface TurnCaptureOptions extends CaptureAppendOptions {
  readonly clock: Clock
}

/** A request whose events are on their way to the journal with others. */
export interface JoinedRequest {
  readonly kind: 'joined'
  /** Resolves when they are on disk. Errors: those of the journal. */
  readonly appended: Promise<void>
  readonly beacon: boolean
}

/** A batch that is open, and what its requests come to. */
interface Batch {
  readonly projectId: number
  readonly historical: boolean
  readonly receivedAtMs: number
  readonly bytesMax: number
  eventCount: number
  decompressedBytes: number
  readonly drops: Remark<DropReason>[]
  readonly warnings: Remark<WarningReason>[]
  readonly appended: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class TurnCapture {
  readonly #options: TurnCaptureOptions
  readonly #capture = new EventCapture(bornIds)
  readonly #target: CaptureTarget = { open: (facts) => this.#open(facts) }
  #batch: Batch | null = null
  /** Batches of each lane that are not on disk yet. */
  readonly #underWay: Record<Lane, number> = { realtime: 0, historical: 0 }
  /** When this turn of the event loop began; null until something is received in it. */
  #receivedAtMs: number | null = null

  constructor(options: TurnCaptureOptions) {
    this.#options = options
  }

  /** When the requests of this turn were received, epoch ms. Read once: they were all there when the turn began. */
  receivedAtMs(): number {
    if (this.#receivedAtMs === null) {
      this.#receivedAtMs = this.#options.clock.nowMs()
      atTurnEnd(() => {
        this.#receivedAtMs = null
        this.#endUnlessBehind()
      })
    }
    return this.#receivedAtMs
  }

  /** Decodes one request now. Total. `captured` are those without events to store. */
  decode(task: CaptureTask): DecodedRequest | JoinedRequest {
    const outcome = decodeInto(this.#target, task)
    if (outcome.kind !== 'captured') return outcome
    if (outcome.eventCount === 0) return { ...outcome, events: null }
    return this.#join(outcome)
  }

  /** Begins a request in the batch of the one before, or in a new one. */
  #open(facts: CaptureFacts): EventCapture {
    const { project, historical, receivedAtMs } = facts
    const batch = this.#batch
    if (
      batch === null ||
      batch.eventCount === 0 || // has the time of one who stored nothing
      batch.projectId !== project.id ||
      batch.historical !== historical ||
      Math.abs(receivedAtMs - batch.receivedAtMs) > batchMsMax
    ) {
      this.#endBatch()
      this.#capture.openBatch(facts)
      this.#batch = createBatch(facts)
    }
    this.#capture.open(facts)
    return this.#capture
  }

  #join({ eventCount, decompressedBytes, drops, warnings, beacon }: CapturedRequest): JoinedRequest {
    const batch = this.#batch
    assert(batch !== null, 'a request with events was opened in a batch')
    batch.eventCount += eventCount
    batch.decompressedBytes += decompressedBytes
    batch.drops.push(...drops)
    batch.warnings.push(...warnings)
    if (batch.eventCount >= batchEventsMax || batch.decompressedBytes >= batch.bytesMax) this.#endBatch()
    // One that waited for its key may be the first of its turn.
    else this.receivedAtMs()
    return { kind: 'joined', appended: batch.appended, beacon }
  }

  /** Ends the batch that is open, unless others of its lane have to be on disk first. */
  #endUnlessBehind(): void {
    if (this.#batch !== null && this.#underWay[laneOf(this.#batch)] === 0) this.#endBatch()
  }

  /** Appends the batch that is open, and settles what its requests wait for. */
  async #endBatch(): Promise<void> {
    const batch = this.#batch
    this.#batch = null
    if (batch === null || batch.eventCount === 0) return
    const lane = laneOf(batch)
    this.#underWay[lane]++
    try {
      await appendCaptured(batch, encodedEvents(this.#capture.closeBatch()), this.#options)
      batch.resolve()
    } catch (error) {
      batch.reject(error)
    }
    this.#underWay[lane]--
    atTurnEnd(() => this.#endUnlessBehind())
  }
}

function laneOf({ historical }: Batch): Lane {
  return historical ? 'historical' : 'realtime'
}

function createBatch({ project, historical, receivedAtMs, recordBytesMax }: CaptureFacts): Batch {
  let resolve = (): void => {}
  let reject = (_: unknown): void => {}
  const appended = new Promise<void>((...settle) => {
    ;[resolve, reject] = settle
  })
  return {
    projectId: project.id,
    historical,
    receivedAtMs,
    bytesMax: Math.min(batchBytesMax, recordBytesMax),
    eventCount: 0,
    decompressedBytes: 0,
    drops: [],
    warnings: [],
    appended,
    resolve,
    reject,
  }
}
