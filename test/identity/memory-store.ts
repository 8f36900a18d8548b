// The stores behind the fold, in memory: persons, ids, groups and what the events store was told. It loads what
// idsToLoad asks for and nothing else, so that a fold that looks further fails.

import { strict as assert } from 'node:assert'
import { bornIdOf } from '../../src/identity/born-id.ts'
import type { Changes, PersonMerge, Warning } from '../../src/identity/changes.ts'
import { fold } from '../../src/identity/fold.ts'
import { type IdsToLoad, idsToLoad, personsToLoadWhole } from '../../src/identity/ids-to-load.ts'
import { readMembers } from '../../src/identity/json-members.ts'
import type { Group, Known, KnownProject, Person } from '../../src/identity/known.ts'
import { readInput, type UnreadInput } from '../../src/identity/operations.ts'
import { SeenPerson } from '../../src/identity/seen-person.ts'
import { capturedBatch, rangeOf, type SentEvent, type SentFacts } from './captured.ts'

interface ProjectTables {
  hasEvents: boolean
  hasGroupTypes: boolean
  readonly persons: Map<string, Person>
  readonly owners: Map<string, string>
  readonly groupTypes: Map<string, number>
  readonly groups: Map<string, Group>
}

/** A person as a reader sees it. */
export interface ShownPerson {
  readonly uuid: string
  readonly distinctIds: readonly string[]
  readonly properties: unknown
  readonly isIdentified: boolean
  readonly version: number
  readonly createdAt: string
}

export class MemoryStore {
  readonly #projects = new Map<number, ProjectTables>()
  /** Born id → person, as the events store keeps it. */
  readonly overrides = new Map<string, string>()
  readonly tombstones = new Map<string, number>()
  readonly mirroredTypes = new Map<string, number>()
  readonly merges: PersonMerge[] = []
  readonly warnings: Warning[] = []
  readonly usage = new Map<string, { billable: number; historical: number }>()

  constructor(...projectIds: number[]) {
    for (const id of projectIds.length === 0 ? [1] : projectIds) {
      this.#projects.set(id, {
        hasEvents: false,
        hasGroupTypes: false,
        persons: new Map(),
        owners: new Map(),
        groupTypes: new Map(),
        groups: new Map(),
      })
    }
  }

  /** Captures events and folds them in one step. */
  send(events: readonly SentEvent[], facts: SentFacts = {}): Changes {
    const batch = capturedBatch(events, facts)
    return this.step(batch === null ? [] : [rangeOf(batch)])
  }

  /** Folds and applies one step. */
  step(inputs: readonly UnreadInput[]): Changes {
    const changes = this.fold(inputs)
    this.apply(changes)
    return changes
  }

  /** Folds a step and forgets it, as a crash before the commit does. */
  fold(unread: readonly UnreadInput[]): Changes {
    const inputs = unread.map(readInput)
    const loads = new Map(idsToLoad(inputs).map((ids) => [ids.projectId, ids]))
    const known: Known = {
      project: (projectId) => {
        const tables = this.#projects.get(projectId)
        const ids = loads.get(projectId) ?? assert.fail(`project ${projectId} was not asked for`)
        return tables === undefined ? null : knownProject(tables, ids)
      },
    }
    return fold(known, inputs)
  }

  apply(changes: Changes): void {
    for (const id of changes.projectsDeleted) this.#projects.delete(id)
    this.merges.push(...changes.merges)
    for (const { projectId, uuid } of changes.personsDeleted) {
      const { persons, owners } = this.#tables(projectId)
      assert(persons.delete(uuid), 'a deleted person was there')
      for (const [id, owner] of owners) if (owner === uuid) owners.delete(id)
    }
    for (const person of changes.persons) {
      const { persons } = this.#tables(person.projectId)
      persons.set(person.uuid, { ...person, properties: asJsonb(person.properties) })
    }
    for (const { projectId, distinctId, personUuid } of changes.distinctIds) {
      const { owners } = this.#tables(projectId)
      if (personUuid === null) owners.delete(distinctId)
      else owners.set(distinctId, personUuid)
    }
    this.#applyGroups(changes)
    this.#applyStoreChanges(changes)
    this.#applyCounts(changes)
    this.check()
  }

  /** Keeps warnings of projects that exist. */
  warn(warnings: readonly Warning[]): void {
    this.warnings.push(...warnings.filter(({ projectId }) => this.#projects.has(projectId)))
  }

  person(distinctId: string, projectId = 1): ShownPerson | null {
    const { owners, persons } = this.#tables(projectId)
    const person = persons.get(owners.get(distinctId) ?? '')
    if (person === undefined) return null
    return {
      uuid: person.uuid,
      distinctIds: [...owners]
        .filter(([, uuid]) => uuid === person.uuid)
        .map(([id]) => id)
        .sort(),
      properties: JSON.parse(person.properties),
      isIdentified: person.isIdentified,
      version: person.version,
      createdAt: new Date(person.createdAtMicros / 1000).toISOString(),
    }
  }

  /** Properties of a person without the event that created it. */
  properties(distinctId: string): Record<string, unknown> | null {
    const properties = this.person(distinctId)?.properties
    if (properties === undefined) return null
    assert(typeof properties === 'object' && properties !== null)
    const { $creator_event_uuid: _, ...others } = { $creator_event_uuid: '', ...properties }
    return others
  }

  personCount(projectId = 1): number {
    return this.#tables(projectId).persons.size
  }

  distinctIds(projectId = 1): string[] {
    return [...this.#tables(projectId).owners.keys()].sort()
  }

  /** The person that events of an id belong to, the way reads resolve it. */
  readerOf(distinctId: string, projectId = 1): string {
    const bornId = bornIdOf(projectId, distinctId)
    return this.overrides.get(bornId) ?? bornId
  }

  groupTypes(projectId = 1): Record<string, number> {
    return Object.fromEntries(this.#tables(projectId).groupTypes)
  }

  group(type: string, key: string, projectId = 1): unknown {
    const { groups, groupTypes } = this.#tables(projectId)
    const group = groups.get(`${groupTypes.get(type)} ${key}`)
    if (group === undefined) return null
    return {
      properties: JSON.parse(group.properties),
      version: group.version,
      createdAt: new Date(group.createdAtMicros / 1000).toISOString(),
    }
  }

  groupCount(projectId = 1): number {
    return this.#tables(projectId).groups.size
  }

  flags(projectId = 1): { hasEvents: boolean; hasGroupTypes: boolean } {
    const { hasEvents, hasGroupTypes } = this.#tables(projectId)
    return { hasEvents, hasGroupTypes }
  }

  /** All rows, for comparing stores. */
  dump(): unknown {
    const tables = [...this.#projects].map(([projectId, { persons, owners, groups, ...others }]) => ({
      projectId,
      ...others,
      persons: [...persons.values()].map(withoutMemory).sort(byText),
      owners: [...owners].sort(byText),
      groups: [...groups].map(([name, group]) => [name, withParsed(group)]).sort(byText),
    }))
    const counts = new Map<string, number>()
    for (const { reason, count } of this.warnings) counts.set(reason, (counts.get(reason) ?? 0) + count)
    const { overrides, tombstones, mirroredTypes, usage } = this
    return { tables, counts, overrides, tombstones, mirroredTypes, usage }
  }

  /** What must hold whatever happened: ids have persons, and reads resolve every id to its person. */
  check(): void {
    for (const [projectId, { persons, owners }] of this.#projects) {
      for (const [id, uuid] of owners) {
        assert(persons.has(uuid), `the person of ${id} exists`)
        assert.equal(this.readerOf(id, projectId), uuid, `reads resolve ${id}`)
      }
      for (const uuid of persons.keys()) assert([...owners.values()].includes(uuid), 'a person has ids')
    }
  }

  #tables(projectId: number): ProjectTables {
    return this.#projects.get(projectId) ?? assert.fail(`project ${projectId} exists`)
  }

  #applyGroups(changes: Changes): void {
    for (const { projectId, name, index } of changes.groupTypes) {
      this.#tables(projectId).groupTypes.set(name, index)
    }
    for (const group of changes.groups) {
      const { groups } = this.#tables(group.projectId)
      groups.set(`${group.typeIndex} ${group.key}`, { ...group, properties: asJsonb(group.properties) })
    }
  }

  #applyStoreChanges(changes: Changes): void {
    for (const change of changes.storeChanges) {
      switch (change.kind) {
        case 'override':
          this.overrides.set(change.bornId, change.personUuid)
          break
        case 'group_type':
          this.mirroredTypes.set(`${change.projectId} ${change.name}`, change.index)
          break
        case 'person_tombstone':
          this.tombstones.set(change.bornId, change.deletedAtMs)
      }
    }
  }

  #applyCounts(changes: Changes): void {
    this.warnings.push(...changes.warnings)
    for (const { projectId, day, billable, historical } of changes.usage) {
      const key = `${projectId} ${day}`
      const before = this.usage.get(key) ?? { billable: 0, historical: 0 }
      this.usage.set(key, {
        billable: before.billable + billable,
        historical: before.historical + historical,
      })
    }
    for (const { projectId, ingestedEvent, hasGroupTypes } of changes.projectFlips) {
      const tables = this.#tables(projectId)
      tables.hasEvents ||= ingestedEvent
      tables.hasGroupTypes ||= hasGroupTypes
    }
  }
}

/** Rows stay unknown of persons who have seen all that is said of them. */
function knownProject(tables: ProjectTables, ids: IdsToLoad): KnownProject {
  const { persons, owners } = tables
  const needed = new Set(ids.personUuids)
  for (const [id, said] of ids.distinctIds) {
    const person = persons.get(owners.get(id) ?? '')
    if (person !== undefined && !said.isSeen(person.seen)) needed.add(person.uuid)
  }
  const known = (person: Person | undefined): Person | null => {
    if (person === undefined || needed.has(person.uuid)) return person ?? null
    return new SeenPerson(person.projectId, person.uuid, person.seen)
  }
  const whole = personsToLoadWhole(ids.merges, (id) => owners.get(id) ?? null)
  return {
    hasEvents: tables.hasEvents,
    groupTypes: tables.groupTypes,
    person(distinctId) {
      assert(ids.distinctIds.has(distinctId), `${distinctId} was asked for`)
      return known(persons.get(owners.get(distinctId) ?? ''))
    },
    personByUuid(uuid) {
      assert(ids.personUuids.has(uuid), `person ${uuid} was asked for`)
      return known(persons.get(uuid))
    },
    distinctIdsOf(uuid) {
      assert(whole.has(uuid) || ids.personUuids.has(uuid), `the ids of person ${uuid} were asked for`)
      return [...owners].filter(([, owner]) => owner === uuid).map(([id]) => id)
    },
    group(type, key) {
      assert(ids.groups.get(type)?.has(key), `group ${type} ${key} was asked for`)
      return tables.groups.get(`${tables.groupTypes.get(type)} ${key}`) ?? null
    },
  }
}

/** An object as jsonb gives it back: keys in another order, spaces between. */
function asJsonb(text: string): string {
  const members = [...readMembers(text)].sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`
}

function withoutMemory({ seen: _, ...person }: Person) {
  return withParsed(person)
}

function withParsed<Row extends { readonly properties: string }>(row: Row) {
  return { ...row, properties: JSON.parse(row.properties) as unknown }
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
