// Loads what a step must know: set by set, a handful of statements however many ids the step names, and only rows that
// are not remembered from earlier steps.
//
// Of a person who is met for the first time it asks whose id that is and what the person has seen. Mostly that is what
// the event says, and the properties are not read: with a million persons, each met once, and nothing that changes one,
// thread and Postgres took 89 µs an event when all properties were read, and 48 without (steps of 10,000 events).

import { bornIdOf } from '../identity/born-id.ts'
import { type IdsToLoad, idsToLoad, personsToLoadWhole } from '../identity/ids-to-load.ts'
import type { Known, Person } from '../identity/known.ts'
import type { StepInput, UnreadInput } from '../identity/operations.ts'
import { nothingSeen } from '../identity/seen.ts'
import { type Said, SeenPerson, saidByOwner } from '../identity/seen-person.ts'
import type { Micros } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import { LoadedProject } from './loaded-project.ts'
import type { PersonCache } from './person-cache.ts'
import { Repeats } from './repeats.ts'

export interface Loaded {
  readonly known: Known
  /** What is to be folded over it. */
  readonly inputs: readonly StepInput[]
  /** Tells the cache what persons have seen in the step, before it hears what the step has changed. */
  noteSeen(): void
}

/**
 * Loads what a step needs within the running transaction, and keeps the projects from being deleted until its end.
 * Returns null when the properties of persons that are not in the cache come to more than `bytesMax`.
 */
export async function loadKnown(
  session: Session,
  cache: PersonCache,
  step: readonly UnreadInput[],
  bytesMax: number,
): Promise<Loaded | null> {
  const repeats = new Repeats(cache, step)
  const projects = await loadProjects(session, idsToLoad(repeats.inputs()))
  await loadOwners(session, cache, projects)
  if (repeats.takeBack(touchedPersons(projects))) {
    for (const ids of idsToLoad(repeats.inputs())) {
      const project = projects.get(ids.projectId)
      if (project !== undefined) project.ids = ids
    }
    await loadOwners(session, cache, projects)
  }
  const missing = missingPersons(cache, projects)
  if (!(await loadPersons(session, cache, projects, missing, bytesMax))) return null
  await loadWholePersons(session, projects)
  await loadGroups(session, projects)
  return {
    known: { project: (projectId) => projects.get(projectId) ?? null },
    inputs: repeats.inputs(),
    noteSeen(): void {
      for (const { persons } of projects.values()) {
        for (const person of persons.values()) if (!(person instanceof SeenPerson)) cache.noteSeen(person)
      }
    },
  }
}

/** The persons that the step may change, by uuid, and where it first may (placeOf). */
function* touchedPersons(projects: ReadonlyMap<number, LoadedProject>): Generator<[string, number]> {
  for (const { owners, ids } of projects.values()) {
    for (const [distinctId, { from }] of ids.distinctIds) {
      const owner = owners.get(distinctId)
      if (owner !== undefined) yield [owner, from]
    }
    // They are few: it does not matter when they go.
    for (const uuid of ids.personUuids) yield [uuid, 0]
  }
}

async function loadProjects(
  session: Session,
  wanted: readonly IdsToLoad[],
): Promise<ReadonlyMap<number, LoadedProject>> {
  const projects = new Map<number, LoadedProject>()
  if (wanted.length === 0) return projects
  const projectIds = wanted.map((ids) => ids.projectId)
  const found = await session.query<{
    id: number
    ingested_event: boolean
    group_types: Readonly<Record<string, number>> | null
  }>(
    `select id, ingested_event,
       (select json_object_agg(name, type_index) from group_type where project_id = project.id) as group_types
     from project where id = any($1::integer[]) order by id for key share`,
    [projectIds],
  )
  const idsOf = new Map(wanted.map((ids) => [ids.projectId, ids]))
  for (const { id, ingested_event, group_types } of found.rows) {
    const project = new LoadedProject(idsOf.get(id)!, ingested_event) // only wanted ones were asked for
    projects.set(id, project)
    for (const [name, index] of Object.entries(group_types ?? {})) project.groupTypes.set(name, index)
  }
  return projects
}

/**
 * Finds the uuids that the wanted distinct_ids lead to, unless they were looked for before, and what these persons have
 * seen. An id belongs to the person that it was born to, unless there is an override: reads of events rely on that as
 * well. `person_distinct_id` says the same at the price of two more random pages for each id.
 */
async function loadOwners(
  session: Session,
  cache: PersonCache,
  projects: ReadonlyMap<number, LoadedProject>,
): Promise<void> {
  const projectIds: number[] = []
  const distinctIds: string[] = []
  const bornIds: string[] = []
  for (const [projectId, { ids, owners, lookedFor }] of projects) {
    for (const distinctId of ids.distinctIds.keys()) {
      if (lookedFor.has(distinctId)) continue
      lookedFor.add(distinctId)
      const bornId = bornIdOf(projectId, distinctId)
      const owner = cache.ownerOf(bornId)
      if (owner !== null) owners.set(distinctId, owner)
      else {
        projectIds.push(projectId)
        distinctIds.push(distinctId)
        bornIds.push(bornId)
      }
    }
  }
  if (distinctIds.length === 0) return
  const { rows } = await session.query<{ place: number; uuid: string; seen: string | null }>(
    `select place, uuid, seen
     from unnest($1::integer[], $2::uuid[]) with ordinality as wanted (project_id, born_id, place)
     left join person_override moved using (project_id, born_id)
     join person on person.project_id = wanted.project_id and person.uuid = coalesce(moved.person_uuid, born_id)`,
    [projectIds, bornIds],
  )
  for (const { place, uuid, seen } of rows) {
    const index = place - 1 // of an id that was asked for
    cache.addOwner(bornIds[index]!, uuid)
    cache.addStoredSeen(uuid, seen)
    projects.get(projectIds[index]!)?.owners.set(distinctIds[index]!, uuid)
  }
}

/** Takes the wanted persons from the cache, as far as a row is needed; returns keys of the others. */
function missingPersons(cache: PersonCache, projects: ReadonlyMap<number, LoadedProject>): PersonKeys {
  const missing: PersonKeys = { projectIds: [], uuids: [] }
  for (const [projectId, { ids, owners, persons }] of projects) {
    const saidOf = saidByOwner(ids.distinctIds, owners)
    for (const uuid of new Set([...owners.values(), ...ids.personUuids])) {
      const said = ids.personUuids.has(uuid) ? null : saidOf.get(uuid)
      const person = cache.person(uuid) ?? (said ? seenPerson(cache, projectId, uuid, said) : null)
      if (person !== null) persons.set(uuid, person)
      else {
        missing.projectIds.push(projectId)
        missing.uuids.push(uuid)
      }
    }
  }
  return missing
}

/** The person without its row, when it has seen all that is said of it; else null. */
function seenPerson(
  cache: PersonCache,
  projectId: number,
  uuid: string,
  saids: readonly Said[],
): SeenPerson | null {
  const seen = cache.seenBy(uuid) ?? nothingSeen
  const isSeen = saids.every((said) => said.isSeen(seen))
  return isSeen ? new SeenPerson(projectId, uuid, seen) : null
}

interface PersonKeys {
  readonly projectIds: number[]
  readonly uuids: string[]
}

/** Returns false when their properties come to more than `bytesMax`: then only some were loaded. */
async function loadPersons(
  session: Session,
  cache: PersonCache,
  projects: ReadonlyMap<number, LoadedProject>,
  { projectIds, uuids }: PersonKeys,
  bytesMax: number,
): Promise<boolean> {
  if (uuids.length === 0) return true
  const { rows } = await session.query<{
    project_id: number
    uuid: string
    created_at_micros: number
    is_identified: boolean
    version: number
    properties: string | null
  }>(
    `select project_id, uuid, (extract(epoch from created_at) * 1000000)::bigint as created_at_micros, is_identified,
       version, case when sum(properties_bytes) over (rows unbounded preceding) <= $3::float8 then properties::text end
       as properties
     from unnest($1::integer[], $2::uuid[]) as wanted (project_id, uuid) join person using (project_id, uuid)`,
    [projectIds, uuids, bytesMax],
  )
  for (const row of rows) {
    if (row.properties === null) return false
    const person: Person = {
      projectId: row.project_id,
      uuid: row.uuid,
      createdAtMicros: row.created_at_micros as Micros, // the statement multiplies seconds to microseconds
      isIdentified: row.is_identified,
      version: row.version,
      properties: row.properties,
      seen: cache.seenBy(row.uuid) ?? nothingSeen,
    }
    cache.addPerson(person)
    projects.get(row.project_id)?.persons.set(row.uuid, person)
  }
  return true
}

/** Loads all ids of the persons that may be merged away or are deleted. */
async function loadWholePersons(
  session: Session,
  projects: ReadonlyMap<number, LoadedProject>,
): Promise<void> {
  const projectIds: number[] = []
  const uuids: string[] = []
  for (const [projectId, { ids, owners, persons }] of projects) {
    const merged = personsToLoadWhole(ids.merges, (distinctId) => owners.get(distinctId) ?? null)
    for (const uuid of new Set([...ids.personUuids, ...merged])) {
      if (!persons.has(uuid)) continue
      projectIds.push(projectId)
      uuids.push(uuid)
    }
  }
  if (uuids.length === 0) return
  const { rows } = await session.query<{ project_id: number; person_uuid: string; distinct_id: string }>(
    `select project_id, person_uuid, distinct_id
     from unnest($1::integer[], $2::uuid[]) as wanted (project_id, person_uuid)
     join person_distinct_id using (project_id, person_uuid)
     order by distinct_id`,
    [projectIds, uuids],
  )
  for (const { project_id, person_uuid, distinct_id } of rows) {
    const lists = projects.get(project_id)?.distinctIds
    const list = lists?.get(person_uuid)
    if (list === undefined) lists?.set(person_uuid, [distinct_id])
    else list.push(distinct_id)
  }
}

async function loadGroups(session: Session, projects: ReadonlyMap<number, LoadedProject>): Promise<void> {
  const projectIds: number[] = []
  const typeIndexes: number[] = []
  const keys: string[] = []
  for (const [projectId, { ids, groupTypes }] of projects) {
    for (const [type, wanted] of ids.groups) {
      const typeIndex = groupTypes.get(type)
      if (typeIndex === undefined) continue
      for (const key of wanted) {
        projectIds.push(projectId)
        typeIndexes.push(typeIndex)
        keys.push(key)
      }
    }
  }
  if (keys.length === 0) return
  const { rows } = await session.query<{
    project_id: number
    type_index: number
    key: string
    created_at_micros: number
    version: number
    properties: string
  }>(
    `select project_id, type_index, key, (extract(epoch from created_at) * 1000000)::bigint as created_at_micros,
       version, properties::text as properties
     from unnest($1::integer[], $2::smallint[], $3::text[]) as wanted (project_id, type_index, key)
     join project_group using (project_id, type_index, key)`,
    [projectIds, typeIndexes, keys],
  )
  for (const row of rows) {
    projects.get(row.project_id)?.groups.set(`${row.type_index} ${row.key}`, {
      projectId: row.project_id,
      typeIndex: row.type_index,
      key: row.key,
      createdAtMicros: row.created_at_micros as Micros, // as for persons
      version: row.version,
      properties: row.properties,
    })
  }
}
