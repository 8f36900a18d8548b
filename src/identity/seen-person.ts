// Persons whose rows a step can do without. Most events repeat what their person has seen (column-digest.ts): when all
// that a step says of a person is such, the fold asks for nothing but the digests, and millions of those fit where
// there is room for a few ten thousand rows.

import type { Micros } from '../lib/clock.ts'
import type { Person } from './known.ts'

/** What the events of a step say of the person of one id, as far as digests tell. */
export class Said {
  /** More than digests can answer for. */
  needsRow = false
  /** Digests of the events that say something; 0 where there is none. */
  #first = 0
  #second = 0

  /** An event with this digest. A person remembers two. */
  add(digest: number): void {
    if (digest === this.#first || digest === this.#second) return
    if (this.#first === 0) this.#first = digest
    else if (this.#second === 0) this.#second = digest
    else this.needsRow = true
  }

  /** True when a person who has seen these two events last has seen all of it. */
  isSeen(seenLast: number, seenBefore: number): boolean {
    const first = this.#first
    const second = this.#second
    return (
      !this.needsRow &&
      (first === 0 || first === seenLast || first === seenBefore) &&
      (second === 0 || second === seenLast || second === seenBefore)
    )
  }
}

/** Stands in for the row of a person who has seen all that the step says. */
export class SeenPerson implements Person {
  readonly projectId: number
  readonly uuid: string
  seenLast: number
  seenBefore: number

  constructor(projectId: number, uuid: string, seenLast: number, seenBefore: number) {
    this.projectId = projectId
    this.uuid = uuid
    this.seenLast = seenLast
    this.seenBefore = seenBefore
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
