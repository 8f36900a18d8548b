// Properties of persons and groups as they were last read, for as long as nothing has changed them: whoever asks for
// flags asks again, on the next page.
//
// All changes are made by the persons consumer, which tells of each of its transactions what that touched, before it
// says that it is applied (persons/touched.ts). A table has the number of the last transaction that touched a hash. A
// copy carries the number of the last one told of when its read began: it is good while nothing of it has been touched
// by a later one. So a read that began before a transaction and ended behind it is of no use, and whoever waits for
// their own event to be applied finds it heeded. What else changes rows (an operator's psql) shows within a minute.
//
// Who goes on asking never waits: a copy that gets old is read again beside an answer that it is still good for. Copies
// get old at moments of their own, so that those who were first read together are not all read together again: with
// copies that ended after five seconds, of 200 who had come at once, one answer in a hundred took ten times as long.

import type { Clock } from '../lib/clock.ts'
import { distinctIdHash, groupHash, personHash, type Touched } from '../persons/touched.ts'
import type { JsonObject } from './json-value.ts'

/** What was read. */
export interface ReadSubject {
  readonly properties: JsonObject
  /** Of its JSON text. */
  readonly bytes: number
}

export interface KnownSubject {
  readonly properties: JsonObject
  /** It should be read again for whoever asks next. Said about once a second. */
  readonly isDue: boolean
}

interface Copy extends ReadSubject {
  /** Of what it was found by, and of the person it was found to be; the same one twice when there is no other. */
  readonly hash: number
  readonly personHash: number
  readonly moment: number
  readonly untilMs: number
  dueMs: number
  isDue: boolean
}

/** A copy is dropped for the changes of others with whom it shares its place: 1 MiB for the table. */
const placeCount = 262_144
/** Changes that nobody tells of show after this. */
const goodMs = 60_000
/** From some moment of these on, by its hash, it is to be read again. */
const dueMsMin = 20_000
const dueMsSpan = 10_000
/** A read that came to nothing is tried again after this. */
const againMs = 1_000
/** Of JSON text; as objects it is several times that. */
const bytesMaxDefault = 16 * 1024 * 1024
const bytesOfOneMax = 64 * 1024
/** What a copy takes apart from its text. */
const overheadBytes = 400

export class KnownSubjects {
  readonly #clock: Clock
  readonly #bytesMax: number
  /** By hash: the number of the last transaction that touched it. */
  readonly #touchedAt = new Uint32Array(placeCount)
  /** The last transaction that may have touched anything. */
  #allTouchedAt = 0
  /** Transactions told of. */
  #moment = 0
  /** The oldest first. */
  readonly #copies = new Map<string, Copy>()
  #bytes = 0

  constructor(clock: Clock, bytesMax: number = bytesMaxDefault) {
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  /** To be asked for before a read begins, and given with what it found. */
  get moment(): number {
    return this.#moment
  }

  /** Hears what a transaction has changed. */
  touched(touched: Touched): void {
    this.#moment++
    if (touched === null) {
      this.#allTouchedAt = this.#moment
      this.#copies.clear()
      this.#bytes = 0
      return
    }
    for (let index = 0; index < touched.length; index++) {
      this.#touchedAt[touched[index]! % placeCount] = this.#moment
    }
  }

  /** The person of an id, without properties when there is no such person; null when it has to be read. */
  person(projectId: number, distinctId: string): KnownSubject | null {
    return this.#find(personKey(projectId, distinctId))
  }

  /** The same of a group. */
  group(projectId: number, typeIndex: number, key: string): KnownSubject | null {
    return this.#find(groupKey(projectId, typeIndex, key))
  }

  /** Keeps what was read of the person of an id; `uuid` is null when there is none. */
  keepPerson(
    projectId: number,
    distinctId: string,
    uuid: string | null,
    read: ReadSubject,
    moment: number,
  ): void {
    const hash = distinctIdHash(projectId, distinctId)
    const ofPerson = uuid === null ? hash : personHash(projectId, uuid)
    this.#keep(personKey(projectId, distinctId), hash, ofPerson, read, moment)
  }

  keepGroup(projectId: number, typeIndex: number, key: string, read: ReadSubject, moment: number): void {
    const hash = groupHash(projectId, typeIndex, key)
    this.#keep(groupKey(projectId, typeIndex, key), hash, hash, read, moment)
  }

  #find(key: string): KnownSubject | null {
    const copy = this.#copies.get(key)
    if (copy === undefined) return null
    const nowMs = this.#clock.monotonicMs()
    if (nowMs >= copy.untilMs || !this.#isUntouched(copy)) {
      this.#drop(key, copy)
      return null
    }
    copy.isDue = nowMs >= copy.dueMs
    if (copy.isDue) copy.dueMs = nowMs + againMs
    return copy
  }

  #isUntouched({ hash, personHash, moment }: Pick<Copy, 'hash' | 'personHash' | 'moment'>): boolean {
    return (
      this.#allTouchedAt <= moment &&
      this.#touchedAt[hash % placeCount]! <= moment &&
      this.#touchedAt[personHash % placeCount]! <= moment
    )
  }

  #keep(key: string, hash: number, personHash: number, read: ReadSubject, moment: number): void {
    if (read.bytes > bytesOfOneMax || !this.#isUntouched({ hash, personHash, moment })) return
    const bytes = read.bytes + key.length + overheadBytes
    const before = this.#copies.get(key)
    if (before !== undefined) this.#drop(key, before)
    const nowMs = this.#clock.monotonicMs()
    const untilMs = nowMs + goodMs
    const dueMs = nowMs + dueMsMin + (hash % dueMsSpan)
    const { properties } = read
    this.#copies.set(key, { properties, bytes, hash, personHash, moment, untilMs, dueMs, isDue: false })
    this.#bytes += bytes
    for (const [oldest, copy] of this.#copies) {
      if (this.#bytes <= this.#bytesMax) break
      this.#drop(oldest, copy)
    }
  }

  #drop(key: string, copy: Copy): void {
    this.#copies.delete(key)
    this.#bytes -= copy.bytes
  }
}

/** A space stands in no number. */
function personKey(projectId: number, distinctId: string): string {
  return `${projectId} ${distinctId}`
}

function groupKey(projectId: number, typeIndex: number, key: string): string {
  return `${projectId}/${typeIndex} ${key}`
}
