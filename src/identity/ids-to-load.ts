// What must be known before a step is folded.

import { isIllegalId } from './illegal-ids.ts'
import { type MergeIds, mergeIds } from './merge.ts'
import type { StepInput } from './operations.ts'
import { Said } from './seen-person.ts'

export interface IdsToLoad {
  readonly projectId: number
  /** Whose persons, if any, must be known, and what the step says of each: a person who has seen that needs no row. */
  readonly distinctIds: ReadonlyMap<string, Said>
  /** Each merge that is asked for, once; personsToLoadWhole says what they need. */
  readonly merges: readonly MergeIds[]
  /** Persons that are deleted: they and all their ids must be known. */
  readonly personUuids: ReadonlySet<string>
  /** Keys of groups by the name of their type; a type without an index has none yet. */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
}

/** More than a batch has events. */
const inputPlaces = 2 ** 32

/** Lists what `inputs` need, by project. */
export function idsToLoad(inputs: readonly StepInput[]): IdsToLoad[] {
  const byProject = new Map<number, ProjectIds>()
  for (const [number, input] of inputs.entries()) {
    const projectId = input.kind === 'events' ? input.batch.header.projectId : input.projectId
    let ids = byProject.get(projectId)
    if (ids === undefined) {
      ids = new ProjectIds(projectId)
      byProject.set(projectId, ids)
    }
    if (input.kind === 'delete_person') ids.personUuids.add(input.personUuid)
    if (input.kind !== 'events') continue
    for (const { index, kind, distinctId, digest, hasGroups, otherId, group } of input.operations) {
      const place = placeOf(number, index)
      const said = ids.said(distinctId)
      if (digest > 0) said.add(digest, place)
      else if (kind !== 'plain' && kind !== 'group' && (kind !== 'birth' || hasGroups)) said.addUntold(place)
      if (group !== null) ids.addGroup(group.type, group.key)
      if (otherId === null || (kind !== 'identify' && kind !== 'alias' && kind !== 'merge')) continue
      if (distinctId === otherId || isIllegalId(distinctId) || isIllegalId(otherId)) continue
      ids.addMerge(mergeIds(kind, distinctId, otherId), place)
    }
  }
  return [...byProject.values()]
}

/** Where an event stands in a step: event `index` of the batch of input `number`. */
export function placeOf(number: number, index: number): number {
  return number * inputPlaces + index
}

/**
 * The persons that `merges` may take away: all of their ids must be known. `ownerOf` tells the uuid of the person that
 * an id belongs to before the step, or null.
 *
 * A source is needed whole. Where several merges touch, a survivor of one may be the source of the next, and all are.
 * They touch in persons, not in ids: another id of a person that was merged away leads to its survivor. A survivor of a
 * single merge, however often that is repeated, is not needed whole: it may have millions of ids.
 */
export function personsToLoadWhole(
  merges: readonly MergeIds[],
  ownerOf: (distinctId: string) => string | null,
): ReadonlySet<string> {
  const clusters = new Map<string, Cluster>()
  const whole = new Set<string>()
  for (const ids of merges) {
    const pair = { into: ownerOf(ids.into) ?? ids.into, source: ownerOf(ids.source) ?? ids.source }
    if (pair.into === pair.source) continue
    whole.add(pair.source)
    const cluster = unite(clusters, pair)
    if (cluster.pair?.into !== pair.into || cluster.pair.source !== pair.source) cluster.pair = null
  }
  for (const [person, { pair }] of clusters) if (pair === null) whole.add(person)
  return whole
}

/** Persons that the merges of a step connect: their uuids, or an id that has no person yet. */
interface Cluster {
  readonly persons: Set<string>
  /** Its only merge, or null when it has several. */
  pair: MergeIds | null
}

function unite(clusters: Map<string, Cluster>, pair: MergeIds): Cluster {
  const one = clusters.get(pair.into)
  const other = clusters.get(pair.source)
  const [small, large] = (one?.persons.size ?? 0) < (other?.persons.size ?? 0) ? [one, other] : [other, one]
  const cluster = large ?? { persons: new Set<string>(), pair }
  for (const person of [pair.into, pair.source, ...(small === large ? [] : (small?.persons ?? []))]) {
    cluster.persons.add(person)
    clusters.set(person, cluster)
  }
  return cluster
}

class ProjectIds implements IdsToLoad {
  readonly projectId: number
  readonly distinctIds = new Map<string, Said>()
  readonly personUuids = new Set<string>()
  readonly groups = new Map<string, Set<string>>()
  /** By both ids; the length tells where the first one ends. */
  readonly #merges = new Map<string, MergeIds>()

  constructor(projectId: number) {
    this.projectId = projectId
  }

  said(distinctId: string): Said {
    let said = this.distinctIds.get(distinctId)
    if (said === undefined) {
      said = new Said()
      this.distinctIds.set(distinctId, said)
    }
    return said
  }

  addGroup(type: string, key: string): void {
    const keys = this.groups.get(type) ?? new Set()
    this.groups.set(type, keys.add(key))
  }

  get merges(): readonly MergeIds[] {
    return [...this.#merges.values()]
  }

  addMerge(pair: MergeIds, place: number): void {
    this.said(pair.into).addUntold(place)
    this.said(pair.source).addUntold(place)
    this.#merges.set(`${pair.into.length} ${pair.into}${pair.source}`, pair)
  }
}
