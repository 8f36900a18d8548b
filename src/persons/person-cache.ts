// What is known of persons between steps, all of it as it stands in the store, which nobody else writes: whose id is
// whose, which events a person has seen last, and rows. A third of the memory for each: rows are few, the others many.
//
// An id is kept by the uuid it was born to. Uuids are hashes, unique over all projects.

import { bornIdOf } from '../identity/born-id.ts'
import type { Changes } from '../identity/changes.ts'
import type { Person } from '../identity/known.ts'
import type { Seen } from '../identity/seen.ts'
import { formatUuid, parseUuidText } from '../lib/uuid.ts'
import { hasPacked, packSeen, unpackSeen } from './packed-seen.ts'
import { UuidTable } from './uuid-table.ts'

interface Generation {
  readonly persons: Map<string, Person>
  bytes: number
}

/** Room that a map's entry and a row take beside their text, measured roughly with Node 20. */
const personBytes = 400

export class PersonCache {
  readonly #generationBytesMax: number
  #young = emptyGeneration()
  #old = emptyGeneration()
  /** Uuids of owners by the uuids that ids were born to. */
  readonly #owners: UuidTable
  /** What they have seen by uuids of persons, packed. */
  readonly #seen: UuidTable
  // Both sides of a table, as bytes and as words of the same memory.
  readonly #keyBytes = new Uint8Array(16)
  readonly #key = new Uint32Array(this.#keyBytes.buffer)
  readonly #valueBytes = new Uint8Array(16)
  readonly #value = new Uint32Array(this.#valueBytes.buffer)

  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 3 / 2
    this.#owners = new UuidTable(bytesMax / 3)
    this.#seen = new UuidTable(bytesMax / 3)
  }

  /** Uuid of the person that owns an id, told by the uuid that it was born to; null when that is not known here. */
  ownerOf(bornId: string): string | null {
    parseUuidText(bornId, this.#keyBytes, 0)
    return this.#owners.get(this.#key, this.#value) ? formatUuid(this.#valueBytes, 0) : null
  }

  /**
   * Copies the uuid of the person that owns an id into `owner`; the id is told by the uuid that it was born to, the
   * four words at `at`. Returns false when the owner is not known here.
   */
  ownerOfBorn(bornIds: Uint32Array, at: number, owner: Uint32Array): boolean {
    for (let word = 0; word < 4; word++) this.#key[word] = bornIds[at + word]!
    return this.#owners.get(this.#key, owner)
  }

  /** Whether it is known here that the person has seen an event with this digest. */
  hasSeen(owner: Uint32Array, digest: number): boolean {
    return this.#seen.get(owner, this.#value) && hasPacked(this.#value, digest)
  }

  person(uuid: string): Person | null {
    const young = this.#young.persons.get(uuid)
    if (young !== undefined) return young
    const old = this.#old.persons.get(uuid)
    if (old === undefined) return null
    this.#keep(old)
    return old
  }

  /** What a person has seen; null when that is not known here. */
  seenBy(uuid: string): Seen | null {
    parseUuidText(uuid, this.#keyBytes, 0)
    return this.#seen.get(this.#key, this.#value) ? unpackSeen(this.#value) : null
  }

  addOwner(bornId: string, personUuid: string): void {
    parseUuidText(bornId, this.#keyBytes, 0)
    parseUuidText(personUuid, this.#valueBytes, 0)
    this.#owners.set(this.#key, this.#value)
  }

  /** Adds a row as it stands, with what the person has seen. */
  addPerson(person: Person): void {
    this.#keep(person)
    this.noteSeen(person)
  }

  /** Remembers what a person has seen, whether or not its row is kept. */
  noteSeen({ uuid, seen }: Pick<Person, 'uuid' | 'seen'>): void {
    parseUuidText(uuid, this.#keyBytes, 0)
    packSeen(seen, this.#value)
    this.#seen.set(this.#key, this.#value)
  }

  /** Remembers what a person's row says that it has seen; here may be known more of the same row. */
  addStoredSeen(uuid: string, seen: string | null): void {
    if (seen === null) return
    parseUuidText(uuid, this.#keyBytes, 0)
    if (this.#seen.get(this.#key, this.#value)) return
    // Rows hold it as it is packed here.
    parseUuidText(seen, this.#valueBytes, 0)
    this.#seen.set(this.#key, this.#value)
  }

  /** Follows what a step has changed in the store. */
  apply(changes: Changes): void {
    // Rows of a project that is gone would only take room, and there is no list of them.
    if (changes.projectsDeleted.length > 0) this.clear()
    for (const { uuid } of changes.personsDeleted) {
      this.#young.persons.delete(uuid)
      this.#old.persons.delete(uuid)
      parseUuidText(uuid, this.#keyBytes, 0)
      this.#seen.forget(this.#key)
    }
    for (const person of changes.persons) this.addPerson(person)
    for (const { projectId, distinctId, personUuid } of changes.distinctIds) {
      const bornId = bornIdOf(projectId, distinctId)
      if (personUuid !== null) this.addOwner(bornId, personUuid)
      else {
        parseUuidText(bornId, this.#keyBytes, 0)
        this.#owners.forget(this.#key)
      }
    }
  }

  clear(): void {
    this.#young = emptyGeneration()
    this.#old = emptyGeneration()
    this.#owners.clear()
    this.#seen.clear()
  }

  /**
   * Rows have two generations: what is asked for moves to the young one. Counts what was ever added to a generation,
   * overwritten or not: it is an upper bound.
   */
  #keep(person: Person): void {
    this.#young.persons.set(person.uuid, person)
    this.#young.bytes += personBytes + person.properties.length
    if (this.#young.bytes < this.#generationBytesMax) return
    this.#old = this.#young
    this.#young = emptyGeneration()
  }
}

function emptyGeneration(): Generation {
  return { persons: new Map(), bytes: 0 }
}
