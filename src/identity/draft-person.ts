// A person while a step is folded: what may still change. Drafts live for one step; what comes of them is a new row.

import type { Micros } from '../lib/clock.ts'
import { canonicalJson } from './canonical-json.ts'
import { printMembers, readMembers } from './json-members.ts'
import type { Person } from './known.ts'
import { nothingSeen, type Seen, seenBeforeSet, withSeen } from './seen.ts'

export class DraftPerson {
  readonly projectId: number
  readonly uuid: string
  /** The row as it was; null for a person born in this step. */
  readonly base: Person | null
  createdAtMicros: Micros
  isIdentified = false
  version = 0
  isChanged = false
  isAlive = true
  /** Who took over this person's ids when it was merged away. */
  mergedInto: DraftPerson | null = null
  /** Ids that came to it in this step. */
  readonly attachedIds: string[] = []
  seen: Seen = nothingSeen
  #properties: Map<string, string> | null = null

  constructor(
    projectId: number,
    uuid: string,
    createdAtMicros: Micros,
    base: Person | null,
    properties: Map<string, string> | null,
  ) {
    this.projectId = projectId
    this.uuid = uuid
    this.createdAtMicros = createdAtMicros
    this.base = base
    this.#properties = properties
    if (base === null) return
    this.isIdentified = base.isIdentified
    this.version = base.version
    this.seen = base.seen
  }

  /** Canonical JSON text by key, to be changed in place. Read from the row when first asked for. */
  get properties(): Map<string, string> {
    if (this.#properties === null) {
      this.#properties = readMembers(this.base?.properties ?? '{}')
      for (const [key, value] of this.#properties) {
        const canonical = canonicalJson(value)
        if (canonical !== value) this.#properties.set(key, canonical)
      }
    }
    return this.#properties
  }

  set properties(properties: Map<string, string>) {
    this.#properties = properties
  }

  /** Remembers an event that changes nothing as things stand. */
  noteSeen(digest: number): void {
    this.seen = withSeen(this.seen, digest)
    // It is as true of the row, as long as that has not changed.
    if (this.base !== null && !this.isChanged) this.base.seen = this.seen
  }

  /** Notes that one event changed the person. What was seen before may mean a change now. */
  change(version: number): void {
    this.version = version
    this.isChanged = true
    this.seen = nothingSeen
  }

  /** The same for an event that has set properties and removed none. */
  changeBySet(version: number): void {
    const seen = seenBeforeSet(this.seen)
    this.change(version)
    this.seen = seen
  }

  /** The new row. */
  toPerson(): Person {
    return {
      projectId: this.projectId,
      uuid: this.uuid,
      createdAtMicros: this.createdAtMicros,
      isIdentified: this.isIdentified,
      version: this.version,
      properties: printMembers(this.properties),
      seen: this.seen,
    }
  }
}
