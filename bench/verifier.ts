// The oracle's judgement: what the clients were told, against what the store holds.
//
//   answered 200        each event stored exactly once (or quarantined), with the properties that were sent
//   refused (4xx)       no event stored
//   no answer, or 5xx   each event at most once, and all of a request or none
//
// An answer that arrived while the power was being cut proves nothing: during the cut a sync may report success for
// bytes that never arrive. Such answers count as no answer.
//
// Order is judged as well. Rows of a lane stand in the store in the order of their journal positions; events of a
// request stand in the order of the request; and a request sent after another's 200 stands behind it.

import { eventOfUuid, shapes } from './capture-request.ts'
import { isRefusal, type SentRequest } from './oracle-journal.ts'
import { eventHashBytes } from './stored-event.ts'
import type { EventsVerdict } from './verdict.ts'

/** A row of the events store, in the store's own order. */
export interface StoredRow {
  readonly uuid: string
  /** `hashEvent` of the row. */
  readonly hash: Uint8Array
  readonly lane: number
  readonly position: number
  readonly index: number
}

/** A stretch of time, in machineMs, whose answers prove nothing. */
export interface Cut {
  readonly fromMs: number
  readonly toMs: number
}

const samplesMax = 20

/** What is known of a request from the store: how often each event was seen, and where its first row stands. */
interface Sighting {
  readonly request: SentRequest
  readonly seen: Uint8Array
  /** -1 until a row was seen. */
  lane: number
  firstPosition: number
  lastIndex: number
}

export class Verifier {
  readonly #requests: ReadonlyMap<number, readonly SentRequest[]>
  readonly #cuts: readonly Cut[]
  readonly #sightings = new Map<SentRequest, Sighting>()
  readonly #lastPlace = new Map<number, { position: number; index: number }>()
  readonly #samples: string[] = []
  #quarantined = 0
  #altered = 0
  #uninvited = 0
  #misordered = 0

  /** `requests` by client; each list indexed by number. */
  constructor(requests: ReadonlyMap<number, readonly SentRequest[]>, cuts: readonly Cut[] = []) {
    this.#requests = requests
    this.#cuts = cuts
  }

  /** Takes the next row of the store. */
  row(row: StoredRow): void {
    const { uuid, hash, lane, position } = row
    this.#judgePlace(row)
    const found = this.#see(uuid)
    if (found === null) return
    const { sighting, index } = found
    const { request } = sighting
    const sent = request.hashes.subarray(index * eventHashBytes, (index + 1) * eventHashBytes)
    if (!Buffer.from(sent).equals(hash)) {
      this.#altered++
      this.#say(`${describe(request)} event ${index} is stored with other contents than were sent`)
    }
    if (sighting.lane === -1) {
      sighting.lane = lane
      sighting.firstPosition = position
    }
    if (index < sighting.lastIndex && sighting.seen[index] === 1) {
      this.#misordered++
      this.#say(`${describe(request)} event ${index} stands behind event ${sighting.lastIndex}`)
    }
    sighting.lastIndex = Math.max(sighting.lastIndex, index)
  }

  /** Takes the uuid of an event that the store set aside: it counts as stored. */
  quarantined(uuid: string): void {
    if (this.#see(uuid) !== null) this.#quarantined++
  }

  /** Judges everything; call it once, after the last row. */
  verdict(): EventsVerdict {
    const counts = { requestCount: 0, eventCount: 0, acknowledgedEvents: 0 }
    const unanswered = { unansweredRequests: 0, unansweredStored: 0 }
    const faults = { lost: 0, doubled: 0, torn: 0 }
    for (const request of [...this.#requests.values()].flat()) {
      const { eventCount } = shapes[request.shape]
      const { stored, doubled } = tally(this.#sightings.get(request))
      const answer = answerOf(request, this.#cuts)
      counts.requestCount++
      counts.eventCount += eventCount
      faults.doubled += doubled
      if (doubled > 0) this.#say(`${describe(request)} has ${doubled} events stored more than once`)
      if (answer === 'acknowledged') {
        counts.acknowledgedEvents += eventCount
        faults.lost += eventCount - stored
      } else if (answer === 'refused') {
        this.#uninvited += stored
      } else {
        unanswered.unansweredRequests++
        if (stored > 0) unanswered.unansweredStored++
        if (stored > 0 && stored < eventCount) faults.torn++
      }
      const isWhole =
        stored === (answer === 'refused' ? 0 : eventCount) || (answer === 'unanswered' && stored === 0)
      if (!isWhole) this.#say(`${describe(request)} was ${answer}: ${stored} of ${eventCount} stored`)
    }
    this.#judgeArrival()
    return {
      ...counts,
      ...unanswered,
      ...faults,
      quarantinedEvents: this.#quarantined,
      altered: this.#altered,
      uninvited: this.#uninvited,
      misordered: this.#misordered,
      samples: this.#samples,
    }
  }

  /** Notes that the event with this uuid is stored; null when nobody sent it. */
  #see(uuid: string): { sighting: Sighting; index: number } | null {
    const name = eventOfUuid(uuid)
    const request = name === null ? undefined : this.#requests.get(name.client)?.[name.number]
    if (name === null || request === undefined || name.index >= shapes[request.shape].eventCount) {
      this.#uninvited++
      this.#say(`event ${uuid} was sent by nobody`)
      return null
    }
    const { index } = name
    let sighting = this.#sightings.get(request)
    if (sighting === undefined) {
      const seen = new Uint8Array(shapes[request.shape].eventCount)
      sighting = { request, seen, lane: -1, firstPosition: 0, lastIndex: -1 }
      this.#sightings.set(request, sighting)
    }
    sighting.seen[index] = Math.min(255, sighting.seen[index]! + 1)
    return { sighting, index }
  }

  /** Rows of a lane must come in the order of their places in the journal, each place once. */
  #judgePlace({ uuid, lane, position, index }: StoredRow): void {
    const last = this.#lastPlace.get(lane) ?? { position: -1, index: -1 }
    if (position < last.position || (position === last.position && index <= last.index)) {
      this.#misordered++
      this.#say(`row ${uuid} at ${position}:${index} stands behind ${last.position}:${last.index}`)
    }
    this.#lastPlace.set(lane, { position, index })
  }

  /** A request sent after another of its lane was acknowledged must stand behind it. */
  #judgeArrival(): void {
    const placed = [...this.#sightings.values()].filter(({ lane }) => lane !== -1)
    const acknowledged = placed
      .map((sighting) => ({ ...sighting, ackMs: ackMs(sighting.request, this.#cuts) }))
      .sort((a, b) => a.ackMs - b.ackMs)
    const behind = new Map<number, number>()
    let next = 0
    for (const { request, lane, firstPosition } of placed.sort(bySentMs)) {
      for (; next < acknowledged.length && acknowledged[next]!.ackMs < firstSentMs(request); next++) {
        const earlier = acknowledged[next]!
        behind.set(earlier.lane, Math.max(behind.get(earlier.lane) ?? -1, earlier.firstPosition))
      }
      const floor = behind.get(lane) ?? -1
      if (firstPosition >= floor) continue
      this.#misordered++
      this.#say(
        `${describe(request)} stands at ${firstPosition}, before one acknowledged earlier at ${floor}`,
      )
    }
  }

  #say(sample: string): void {
    if (this.#samples.length < samplesMax) this.#samples.push(sample)
  }
}

/** How many events of a request are stored, and how many of them more than once. */
function tally(sighting: Sighting | undefined): { stored: number; doubled: number } {
  let stored = 0
  let doubled = 0
  for (const count of sighting?.seen ?? []) {
    if (count > 0) stored++
    if (count > 1) doubled++
  }
  return { stored, doubled }
}

function answerOf(request: SentRequest, cuts: readonly Cut[]): 'acknowledged' | 'refused' | 'unanswered' {
  if (ackMs(request, cuts) < Infinity) return 'acknowledged'
  return request.attempts.some(({ status }) => isRefusal(status)) ? 'refused' : 'unanswered'
}

/** When the request was first acknowledged, outside every cut; Infinity when it never was. */
function ackMs(request: SentRequest, cuts: readonly Cut[]): number {
  let first = Infinity
  for (const { status, endMs } of request.attempts) {
    if (status !== 200 || endMs === null) continue
    if (cuts.some(({ fromMs, toMs }) => endMs >= fromMs && endMs <= toMs)) continue
    first = Math.min(first, endMs)
  }
  return first
}

function firstSentMs(request: SentRequest): number {
  return request.attempts[0]!.sentMs // a request is in the journal because it was sent
}

function bySentMs(a: Sighting, b: Sighting): number {
  return firstSentMs(a.request) - firstSentMs(b.request)
}

function describe({ client, number, shape }: SentRequest): string {
  return `request ${client}/${number} (${shape}, ${shapes[shape].lane})`
}
