// Persons whose rows a step can do without. Most events repeat what their person has seen (person-digest.ts): when all
// that a step says of a person is such, the fold asks for nothing but the digests, and millions of those fit where
// there is room for a few ten thousand rows.

import type { Micros } from '../lib/clock.ts'
import type { Person } from './known.ts'
import { hasSeen, nothingSeen, type Seen, withSeen } from './seen.ts'

/** What the events of a step say of the person of one id, as far as digests tell. */
export class Said {
  /** Where the first event stands that may change the person (placeOf); infinite when none may. */
  from: number = Number.POSITIVE_INFINITY
  /** More than digests can answer for. */
  #needsRow = false
  /** Of the events that say something. */
  #said: Seen = nothingSeen

  /** An event with this digest. A person remembers three. Events come in the order of their places. */
  add(digest: number, place: number): void {
    this.from = Math.min(this.from, place)
    if (this.#said.earlier === 0) this.#said = withSeen(this.#said, digest)
    else if (!hasSeen(this.#said, digest)) this.#needsRow = true
  }

  /** An event that digests cannot answer for. */
  addUntold(place: number): void {
    this.from = Math.min(this.from, place)
    this.#needsRow = true
  }

  /** True when a person who has seen `seen` has seen all of it. */
  isSeen(seen: Seen): boolean {
    if (this.#needsRow) return false
    const { last, before, earlier } = this.#said
    return [last, before, earlier].every((digest) => digest === 0 || hasSeen(seen, digest))
  }
}

/** Stands in for the row of a person who has seen all that the step says. */
export class SeenPerson implements Person {
  readonly projectId: number
  readonly uuid: string
  seen: Seen

  constructor(projectId: number, uuid: string, seen: Seen) {
    this.projectId = projectId
    this.uuid = uuid
    this.seen = seen
  }

  get createdAtMicros(): Micros {
    return this.#missing()
  }

  get isIdentified(): boolean {
    return this.#missing()
  }

  get version(): number {
    return this.#missing()
  }

  get properties(): string {
    return this.#missing()
  }

  #missing(): never {
    throw new Error(`the row of person ${this.uuid} was not loaded`)
  }
}

/** What is said of each person, by uuid; `owners` are uuids by distinct_id. */
export function saidByOwner(
  distinctIds: ReadonlyMap<string, Said>,
  owners: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly Said[]> {
  const byOwner = new Map<string, Said[]>()
  for (const [distinctId, said] of distinctIds) {
    const uuid = owners.get(distinctId)
    if (uuid === undefined) continue
    const others = byOwner.get(uuid)
    if (others === undefined) byOwner.set(uuid, [said])
    else others.push(said)
  }
  return byOwner
}
