// One project while what a step needs of it is loaded, and as the fold sees it afterwards.

import type { IdsToLoad } from '../identity/ids-to-load.ts'
import type { Group, KnownProject, Person } from '../identity/known.ts'
import { assert } from '../lib/assert.ts'

export class LoadedProject implements KnownProject {
  ids: IdsToLoad
  readonly hasEvents: boolean
  readonly groupTypes = new Map<string, number>()
  readonly persons = new Map<string, Person>()
  /** Uuids of the owners of `ids.distinctIds`. */
  readonly owners = new Map<string, string>()
  /** Ids whose owners were looked for, found or not. */
  readonly lookedFor = new Set<string>()
  readonly distinctIds = new Map<string, string[]>()
  readonly groups = new Map<string, Group>()

  constructor(ids: IdsToLoad, hasEvents: boolean) {
    this.ids = ids
    this.hasEvents = hasEvents
  }

  person(distinctId: string): Person | null {
    const owner = this.owners.get(distinctId)
    return owner === undefined ? null : this.personByUuid(owner)
  }

  personByUuid(uuid: string): Person | null {
    return this.persons.get(uuid) ?? null
  }

  distinctIdsOf(personUuid: string): readonly string[] {
    const distinctIds = this.distinctIds.get(personUuid)
    // Going on without them would leave ids behind that belong to nobody.
    assert(distinctIds !== undefined, 'the ids of a person that goes away were loaded')
    return distinctIds
  }

  group(type: string, key: string): Group | null {
    return this.groups.get(`${this.groupTypes.get(type)} ${key}`) ?? null
  }
}
