// Persons by distinct_id, kept between steps: the rows as they stand in the store, which nobody else writes. It holds
// two generations. What is asked for moves to the young one; when that has had half the bytes, it becomes the old one
// and the old one is forgotten.
//
// Several ids may lead to one row, so the row is found through its uuid; uuids are unique over all projects.

import type { Changes } from '../identity/changes.ts'
import type { Person } from '../identity/known.ts'

interface Generation {
  /** Uuids of persons by "<project> <distinct_id>". */
  readonly owners: Map<string, string>
  readonly persons: Map<string, Person>
  bytes: number
}

/** Room that a map's entry and a row take beside their text, measured roughly with Node 20. */
const ownerBytes = 200
const personBytes = 400

export class PersonCache {
  readonly #generationBytesMax: number
  #young = emptyGeneration()
  #old = emptyGeneration()

  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2
  }

  /** Uuid of the person that owns an id; null when that is not known here. */
  ownerOf(projectId: number, distinctId: string): string | null {
    const key = `${projectId} ${distinctId}`
    const young = this.#young.owners.get(key)
    if (young !== undefined) return young
    const old = this.#old.owners.get(key)
    if (old === undefined) return null
    this.#setOwner(key, old)
    return old
  }

  person(uuid: string): Person | null {
    const young = this.#young.persons.get(uuid)
    if (young !== undefined) return young
    const old = this.#old.persons.get(uuid)
    if (old === undefined) return null
    this.addPerson(old)
    return old
  }

  addOwner(projectId: number, distinctId: string, personUuid: string): void {
    this.#setOwner(`${projectId} ${distinctId}`, personUuid)
  }

  addPerson(person: Person): void {
    this.#young.persons.set(person.uuid, person)
    this.#grow(personBytes + person.properties.length)
  }

  /** Follows what a step has changed in the store. */
  apply(changes: Changes): void {
    // Rows of a project that is gone would only take room, and there is no list of them.
    if (changes.projectsDeleted.length > 0) this.clear()
    for (const { uuid } of changes.personsDeleted) {
      this.#young.persons.delete(uuid)
      this.#old.persons.delete(uuid)
    }
    for (const person of changes.persons) this.addPerson(person)
    for (const { projectId, distinctId, personUuid } of changes.distinctIds) {
      const key = `${projectId} ${distinctId}`
      if (personUuid !== null) this.#setOwner(key, personUuid)
      else {
        this.#young.owners.delete(key)
        this.#old.owners.delete(key)
      }
    }
  }

  clear(): void {
    this.#young = emptyGeneration()
    this.#old = emptyGeneration()
  }

  #setOwner(key: string, personUuid: string): void {
    this.#young.owners.set(key, personUuid)
    this.#grow(ownerBytes + key.length)
  }

  /** Counts what was ever added to a generation, overwritten or not: it is an upper bound. */
  #grow(bytes: number): void {
    this.#young.bytes += bytes
    if (this.#young.bytes < this.#generationBytesMax) return
    this.#old = this.#young
    this.#young = emptyGeneration()
  }
}

function emptyGeneration(): Generation {
  return { owners: new Map(), persons: new Map(), bytes: 0 }
}
