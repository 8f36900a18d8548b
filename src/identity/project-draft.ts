// One project while a step is folded: who owns which id, what was born, moved and removed so far, over what was known
// before the step.
//
// Every id that leaves the person it was born to gets an override born id → present person. They stay flat by
// themselves: when a person is merged away, all of its ids move, and each writes its override anew.

import { assert } from '../lib/assert.ts'
import type { Micros } from '../lib/clock.ts'
import { bornIdOf } from './born-id.ts'
import type { DistinctId, PersonKey, PersonMerge, ProjectFlip, ReleasedId, StoreChange } from './changes.ts'
import { DraftPerson } from './draft-person.ts'
import { GroupDrafts } from './group-drafts.ts'
import type { KnownProject, Person } from './known.ts'

export class ProjectDraft {
  readonly projectId: number
  readonly known: KnownProject
  readonly groups: GroupDrafts
  /** An event was applied, before this step or in it. */
  hasEvents: boolean
  /** Drafts by uuid; a person born again after its removal takes the place of the one before. */
  readonly #persons = new Map<string, DraftPerson>()
  readonly #dead: DraftPerson[] = []
  /** Ids that changed hands; null for an id whose person was removed. */
  readonly #owners = new Map<string, DraftPerson | null>()
  /** Ids whose person was removed; they may have found another since. */
  readonly #released = new Set<string>()
  readonly #overrides = new Map<string, string>()
  readonly #tombstones = new Map<string, number>()

  constructor(projectId: number, known: KnownProject) {
    this.projectId = projectId
    this.known = known
    this.groups = new GroupDrafts(projectId, known)
    this.hasEvents = known.hasEvents
  }

  /** The person an id belongs to; its row when nothing in this step has looked at it more closely. */
  ownerOf(distinctId: string): DraftPerson | Person | null {
    const owner = this.#owners.size === 0 ? undefined : this.#owners.get(distinctId)
    if (owner !== undefined) return owner
    const row = this.known.person(distinctId)
    return row === null ? null : (this.#persons.get(row.uuid) ?? row)
  }

  /** The same as a draft. */
  personOf(distinctId: string): DraftPerson | null {
    const owner = this.ownerOf(distinctId)
    return owner === null ? null : this.draftOf(owner)
  }

  draftOf(owner: DraftPerson | Person): DraftPerson {
    if (owner instanceof DraftPerson) return owner
    const draft = new DraftPerson(this.projectId, owner.uuid, owner.createdAtMicros, owner, null)
    this.#persons.set(owner.uuid, draft)
    return draft
  }

  /** Makes a person of an id that has none. */
  create(distinctId: string, createdAtMicros: Micros, properties: Map<string, string>): DraftPerson {
    const uuid = bornIdOf(this.projectId, distinctId)
    assert(
      this.#persons.get(uuid)?.isAlive !== true,
      'an id without a person has not given a person its uuid',
    )
    const person = new DraftPerson(this.projectId, uuid, createdAtMicros, null, properties)
    this.#persons.set(uuid, person)
    this.#own(distinctId, person)
    return person
  }

  /** Gives an id that has no person to one that has other ids. */
  attach(distinctId: string, person: DraftPerson): void {
    this.#own(distinctId, person)
    this.#overrides.set(bornIdOf(this.projectId, distinctId), person.uuid)
  }

  /** Gives all ids of `source` to `survivor`; `source` is gone then. */
  moveIds(source: DraftPerson, survivor: DraftPerson): void {
    for (const distinctId of this.#idsOf(source)) this.attach(distinctId, survivor)
    source.mergedInto = survivor
    this.#bury(source)
  }

  /** Removes a person and its ids. One that does not exist, or was merged into another, is left as it is. */
  remove(uuid: string, tombstoneMs: number | null): void {
    const row = this.#persons.get(uuid) ?? this.known.personByUuid(uuid)
    if (row === null) return
    const person = this.draftOf(row)
    if (!person.isAlive) return
    for (const distinctId of this.#idsOf(person)) {
      const bornId = bornIdOf(this.projectId, distinctId)
      this.#owners.set(distinctId, null)
      this.#released.add(distinctId)
      this.#overrides.set(bornId, bornId)
      if (tombstoneMs !== null) this.#tombstones.set(bornId, tombstoneMs)
    }
    this.#bury(person)
  }

  /** Born and changed persons. */
  persons(): Person[] {
    return [...this.#persons.values()]
      .filter((person) => person.isAlive && (person.isChanged || person.base === null))
      .map((person) => person.toPerson())
  }

  personsDeleted(): PersonKey[] {
    return this.#dead.filter(({ base }) => base !== null).map(({ projectId, uuid }) => ({ projectId, uuid }))
  }

  merges(): PersonMerge[] {
    const merges: PersonMerge[] = []
    for (const person of this.#dead) {
      let into = person.mergedInto
      while (into?.mergedInto) into = into.mergedInto
      if (person.base === null || !into?.isAlive) continue
      merges.push({ projectId: this.projectId, from: person.uuid, into: into.uuid })
    }
    return merges
  }

  distinctIds(): DistinctId[] {
    return [...this.#owners].map(([distinctId, person]) => ({
      projectId: this.projectId,
      distinctId,
      personUuid: person === null ? null : person.uuid,
    }))
  }

  idsReleased(): ReleasedId[] {
    return [...this.#released].map((distinctId) => ({ projectId: this.projectId, distinctId }))
  }

  storeChanges(): StoreChange[] {
    const { projectId } = this
    return [
      ...[...this.#overrides].map(
        ([bornId, personUuid]) => ({ kind: 'override', projectId, bornId, personUuid }) as const,
      ),
      ...this.groups.types().map((type) => ({ kind: 'group_type', ...type }) as const),
      ...[...this.#tombstones].map(
        ([bornId, deletedAtMs]) => ({ kind: 'person_tombstone', projectId, bornId, deletedAtMs }) as const,
      ),
    ]
  }

  flips(): ProjectFlip[] {
    const ingestedEvent = this.hasEvents && !this.known.hasEvents
    const hasGroupTypes = this.groups.hasNewTypes && this.known.groupTypes.size === 0
    return ingestedEvent || hasGroupTypes ? [{ projectId: this.projectId, ingestedEvent, hasGroupTypes }] : []
  }

  #own(distinctId: string, person: DraftPerson): void {
    this.#owners.set(distinctId, person)
    person.attachedIds.push(distinctId)
  }

  #idsOf(person: DraftPerson): readonly string[] {
    if (person.base === null) return person.attachedIds
    return [...this.known.distinctIdsOf(person.uuid), ...person.attachedIds]
  }

  #bury(person: DraftPerson): void {
    person.isAlive = false
    this.#dead.push(person)
  }
}
