// Who is who, told from the beginning: plays the events that make and join persons again, one by one, by the rules of
// the fold, and notes what each of them did.

import type { Micros } from '../lib/clock.ts'
import type { IdentityWarning } from './changes.ts'
import type { DraftPerson } from './draft-person.ts'
import type { KnownProject } from './known.ts'
import { mergeIds, mergeOperation } from './merge.ts'
import type { MergeKind } from './operations.ts'
import { ProjectDraft } from './project-draft.ts'

/** An event that may make a person (`birth`) or join two ids. */
export interface ToldEvent {
  readonly kind: 'birth' | MergeKind
  readonly distinctId: string
  /** Null where the event asks for no merge. */
  readonly otherId: string | null
}

/**
 * born       its distinct_id had no person and got one
 * created    neither id had a person: one was made of both
 * attached   one id had a person, and the other came to it
 * merged     two persons became one
 * unchanged  nothing was to be done
 * refused    the merge was not allowed; `reason` says why
 */
export type ToldOutcome = 'born' | 'created' | 'attached' | 'merged' | 'unchanged' | 'refused'

export interface ToldStep {
  readonly outcome: ToldOutcome
  readonly reason: IdentityWarning | null
  /** The person that the event belonged to afterwards. */
  readonly personUuid: string
  /** Ids that came to that person with this event. */
  readonly joinedIds: readonly string[]
}

export interface Account {
  /** One for each event. */
  readonly steps: readonly ToldStep[]
  /** The person each id ends with. */
  readonly owners: ReadonlyMap<string, string>
}

const nobody: KnownProject = {
  hasEvents: true,
  groupTypes: new Map(),
  person: () => null,
  personByUuid: () => null,
  distinctIdsOf: () => [],
  group: () => null,
}
/** Of no matter here. */
const sometime = 0 as Micros

/** Plays `events`, which must be in the order in which they were applied. */
export function tellAccount(projectId: number, events: readonly ToldEvent[]): Account {
  const teller = new Teller(projectId)
  const steps = events.map((event) => teller.tell(event))
  return { steps, owners: teller.owners }
}

class Teller {
  readonly owners = new Map<string, string>()
  readonly #project: ProjectDraft

  constructor(projectId: number) {
    this.#project = new ProjectDraft(projectId, nobody)
  }

  tell({ kind, distinctId, otherId }: ToldEvent): ToldStep {
    if (kind === 'birth' || otherId === null) return this.#bear(distinctId, 'unchanged', null)
    const ids = mergeIds(kind, distinctId, otherId)
    const isNew = { into: !this.owners.has(ids.into), source: !this.owners.has(ids.source) }
    const outcome = mergeOperation(this.#project, kind, distinctId, otherId)
    switch (outcome.kind) {
      case 'same':
        return this.#bear(distinctId, 'unchanged', null)
      case 'refused':
        return this.#bear(distinctId, 'refused', outcome.warning)
      case 'unborn': {
        const person = this.#project.create(ids.into, sometime, new Map())
        this.#project.attach(ids.source, person)
        return this.#joined('created', person, [ids.into, ids.source])
      }
      case 'joined': {
        const { person, isMerged, warning } = outcome
        if (isMerged) return this.#joined('merged', person, this.#idsLike(ids.source))
        if (isNew.into || isNew.source)
          return this.#joined('attached', person, [isNew.into ? ids.into : ids.source])
        const step = this.#joined('unchanged', person, [])
        return warning === null ? step : { ...step, outcome: 'refused', reason: warning }
      }
    }
  }

  /** Makes the person of an id that has none. */
  #bear(distinctId: string, otherwise: ToldOutcome, reason: IdentityWarning | null): ToldStep {
    const owner = this.owners.get(distinctId)
    if (owner !== undefined) return { outcome: otherwise, reason, personUuid: owner, joinedIds: [] }
    const { uuid } = this.#project.create(distinctId, sometime, new Map())
    this.owners.set(distinctId, uuid)
    const outcome = reason === null ? 'born' : otherwise
    return { outcome, reason, personUuid: uuid, joinedIds: [distinctId] }
  }

  #joined(outcome: ToldOutcome, person: DraftPerson, joinedIds: readonly string[]): ToldStep {
    person.isIdentified = true
    for (const id of joinedIds) this.owners.set(id, person.uuid)
    return { outcome, reason: null, personUuid: person.uuid, joinedIds }
  }

  /** All ids of the person that an id had until now. */
  #idsLike(distinctId: string): string[] {
    const owner = this.owners.get(distinctId)
    return [...this.owners].filter(([, uuid]) => uuid === owner).map(([id]) => id)
  }
}
