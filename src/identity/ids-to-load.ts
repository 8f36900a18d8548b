// What must be known before a step is folded.

import { isIllegalId } from './illegal-ids.ts'
import { type MergeIds, mergeIds } from './merge.ts'
import type { StepInput } from './operations.ts'

export interface IdsToLoad {
  readonly projectId: number
  /** Whose persons, if any, must be known. */
  readonly distinctIds: ReadonlySet<string>
  /** Those of them whose persons may be merged away: all ids of these persons must be known too. */
  readonly wholePersonsOf: ReadonlySet<string>
  /** Persons that are deleted: they and all their ids must be known. */
  readonly personUuids: ReadonlySet<string>
  /** Keys of groups by the name of their type; a type without an index has none yet. */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>
}

/** Lists what `inputs` need, by project. */
export function idsToLoad(inputs: readonly StepInput[]): IdsToLoad[] {
  const byProject = new Map<number, ProjectIds>()
  for (const input of inputs) {
    const projectId = input.kind === 'events' ? input.batch.header.projectId : input.projectId
    const ids = byProject.get(projectId) ?? new ProjectIds(projectId)
    byProject.set(projectId, ids)
    if (input.kind === 'delete_person') ids.personUuids.add(input.personUuid)
    if (input.kind !== 'events') continue
    for (const { kind, distinctId, otherId, group } of input.operations) {
      ids.distinctIds.add(distinctId)
      if (group !== null) ids.addGroup(group.type, group.key)
      if (otherId === null || (kind !== 'identify' && kind !== 'alias' && kind !== 'merge')) continue
      if (distinctId === otherId || isIllegalId(distinctId) || isIllegalId(otherId)) continue
      ids.addMerge(mergeIds(kind, distinctId, otherId))
    }
  }
  for (const ids of byProject.values()) ids.close()
  return [...byProject.values()]
}

/** Ids that the merges of a step connect. */
interface Cluster {
  readonly ids: Set<string>
  /** The two ids of its only merge, or null when it has several. */
  pair: MergeIds | null
}

class ProjectIds implements IdsToLoad {
  readonly projectId: number
  readonly distinctIds = new Set<string>()
  readonly wholePersonsOf = new Set<string>()
  readonly personUuids = new Set<string>()
  readonly groups = new Map<string, Set<string>>()
  readonly #clusters = new Map<string, Cluster>()

  constructor(projectId: number) {
    this.projectId = projectId
  }

  addGroup(type: string, key: string): void {
    const keys = this.groups.get(type) ?? new Set()
    this.groups.set(type, keys.add(key))
  }

  /**
   * A source is needed whole. Where several merges touch, a survivor of one may be the source of the next, and all
   * are. A survivor of a single merge, however often it is repeated, is not: it may have millions of ids.
   */
  addMerge(pair: MergeIds): void {
    this.distinctIds.add(pair.into).add(pair.source)
    this.wholePersonsOf.add(pair.source)
    const cluster = this.#unite(this.#clusters.get(pair.into), this.#clusters.get(pair.source), pair)
    if (cluster.pair?.into !== pair.into || cluster.pair.source !== pair.source) cluster.pair = null
  }

  /** Ends the list. */
  close(): void {
    for (const [id, { pair }] of this.#clusters) if (pair === null) this.wholePersonsOf.add(id)
  }

  #unite(one: Cluster | undefined, other: Cluster | undefined, pair: MergeIds): Cluster {
    const [small, large] = (one?.ids.size ?? 0) < (other?.ids.size ?? 0) ? [one, other] : [other, one]
    const cluster = large ?? { ids: new Set<string>(), pair }
    for (const id of [pair.into, pair.source, ...(small === large ? [] : (small?.ids ?? []))]) {
      cluster.ids.add(id)
      this.#clusters.set(id, cluster)
    }
    return cluster
  }
}
