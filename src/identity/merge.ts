// Joining two ids: which person survives, what it inherits, and when it is refused.

import { unreachable } from '../lib/assert.ts'
import type { IdentityWarning } from './changes.ts'
import type { DraftPerson } from './draft-person.ts'
import { isIllegalId } from './illegal-ids.ts'
import type { MergeKind } from './operations.ts'
import type { ProjectDraft } from './project-draft.ts'
import { mergeProperties } from './property-change.ts'

/** The two ids of a merge: `source` comes to the person of `into`. */
export interface MergeIds {
  readonly into: string
  readonly source: string
}

/**
 * refused   nothing was joined, and the event goes on as one that asks for no merge
 * same      both ids are one and the same
 * unborn    neither id has a person: one is to be made of `into`, and `source` attached to it
 * joined    both ids belong to `person`, which is to be identified; `isMerged` when two became one, `version` is the
 *           least its version may be, and `warning` what went wrong on the way
 */
export type MergeOutcome =
  | { readonly kind: 'refused'; readonly warning: IdentityWarning; readonly detail: string }
  | { readonly kind: 'same' }
  | { readonly kind: 'unborn'; readonly ids: MergeIds }
  | {
      readonly kind: 'joined'
      readonly person: DraftPerson
      readonly isMerged: boolean
      readonly warning: IdentityWarning | null
      readonly detail: string
    }

/**
 * The direction of every merge. PostHog's documents say of $create_alias that the alias becomes the main id, its
 * source has it the other way round; the documents hold here. In the two others the event's distinct_id survives.
 */
export function mergeIds(kind: MergeKind, distinctId: string, otherId: string): MergeIds {
  switch (kind) {
    case 'identify':
    case 'merge':
      return { into: distinctId, source: otherId }
    case 'alias':
      return { into: otherId, source: distinctId }
    default:
      return unreachable(kind)
  }
}

/** Joins the ids of an identity event. */
export function mergeOperation(
  project: ProjectDraft,
  kind: MergeKind,
  distinctId: string,
  otherId: string,
): MergeOutcome {
  if (distinctId === otherId) return { kind: 'same' }
  for (const id of [distinctId, otherId]) {
    if (!isIllegalId(id)) continue
    const detail = `"${id}" is no id that may be merged`
    return { kind: 'refused', warning: 'cannot_merge_with_illegal_distinct_id', detail }
  }
  const ids = mergeIds(kind, distinctId, otherId)
  const survivor = project.personOf(ids.into)
  const source = project.personOf(ids.source)
  if (survivor === null) {
    if (source === null) return { kind: 'unborn', ids }
    project.attach(ids.into, source)
    return joined(source)
  }
  if (source === null) {
    project.attach(ids.source, survivor)
    return joined(survivor)
  }
  if (source === survivor) return joined(survivor)
  if (source.isIdentified && kind !== 'merge') {
    const detail = `the person of "${ids.source}" is identified already`
    return { ...joined(survivor), warning: 'cannot_merge_already_identified', detail }
  }
  return mergePersons(project, source, survivor)
}

function joined(person: DraftPerson) {
  return { kind: 'joined', person, isMerged: false, warning: null, detail: '' } as const
}

/** Makes one person of two: `survivor` keeps its uuid, and its properties prevail. */
function mergePersons(project: ProjectDraft, source: DraftPerson, survivor: DraftPerson): MergeOutcome {
  const { properties, isTrimmed } = mergeProperties(source.properties, survivor.properties)
  survivor.properties = properties
  if (source.createdAtMicros < survivor.createdAtMicros) survivor.createdAtMicros = source.createdAtMicros
  survivor.isIdentified = true
  survivor.change(Math.max(source.version, survivor.version) + 1)
  project.moveIds(source, survivor)
  return {
    kind: 'joined',
    person: survivor,
    isMerged: true,
    warning: isTrimmed ? 'person_properties_trimmed' : null,
    detail: isTrimmed ? 'two persons together have more than 512 KiB of properties' : '',
  }
}
