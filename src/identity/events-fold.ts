// Folds the events of one batch into the draft of their project.

import { timestampOf } from '../capture/event-batch.ts'
import { textValue } from '../capture/text-column.ts'
import { microsFromMs } from '../lib/clock.ts'
import { formatUuid } from '../lib/uuid.ts'
import { canonicalJson } from './canonical-json.ts'
import type { IdentityWarning } from './changes.ts'
import type { DraftPerson } from './draft-person.ts'
import { mergeOperation } from './merge.ts'
import { type EventsInput, type Operation, personColumn } from './operations.ts'
import { type PersonUpdate, personUpdate } from './person-update.ts'
import type { ProjectDraft } from './project-draft.ts'
import {
  propertiesBytes,
  propertiesBytesMax,
  propertiesTrimBytes,
  trimProperties,
} from './property-bounds.ts'
import { changeProperties } from './property-change.ts'
import { hasSeen } from './seen.ts'
import type { Tally } from './tally.ts'

const trimmedDetail = 'properties over 512 KiB were removed, the largest first'
const refusedDetail = 'the event would have made the properties larger than 640 KiB'
/** Of a person: the event that made it. */
const creatorKey = '$creator_event_uuid'

export class EventsFold {
  readonly #project: ProjectDraft
  readonly #input: EventsInput
  readonly #tally: Tally

  constructor(project: ProjectDraft, input: EventsInput, tally: Tally) {
    this.#project = project
    this.#input = input
    this.#tally = tally
  }

  apply(operation: Operation): void {
    const { kind, index, digest, hasGroups } = operation
    const { batch } = this.#input
    const owner = this.#project.ownerOf(operation.distinctId)
    if (owner !== null && (kind === 'plain' || (kind === 'birth' && !hasGroups))) return
    if (owner !== null && digest > 0 && hasSeen(owner.seen, digest)) return
    const members = operation.members ?? personColumn(batch, index)
    if (hasGroups) this.#project.groups.nameTypes(members.get('$groups') ?? '{}')
    if (operation.group !== null) this.#changeGroup(operation)
    // It says nothing of who sends it.
    if (owner !== null && kind === 'group') return
    const update = personUpdate(members, kind, timestampOf(batch, index))
    const person = this.#applyToPerson(operation, update)
    // A type that is new in this step is not stored yet: a replay must meet the event again.
    const isRepeatable = digest > 0 && !(hasGroups && this.#project.groups.hasNewTypes)
    if (person !== null && isRepeatable) person.noteSeen(digest)
  }

  /** Returns the person when the event has done to it all that it asked for. */
  #applyToPerson(operation: Operation, update: PersonUpdate): DraftPerson | null {
    const { kind, distinctId, otherId } = operation
    if (otherId !== null && (kind === 'identify' || kind === 'alias' || kind === 'merge')) {
      const outcome = mergeOperation(this.#project, kind, distinctId, otherId)
      switch (outcome.kind) {
        case 'unborn':
          return this.#createJoined(operation, outcome.ids.into, outcome.ids.source, update)
        case 'joined':
          if (outcome.warning !== null) this.#warn(operation, outcome.warning, outcome.detail)
          return this.#identify(operation, outcome.person, outcome.isMerged, update)
        case 'refused':
          this.#warn(operation, outcome.warning, outcome.detail)
      }
    }
    const person = this.#project.personOf(distinctId)
    if (person === null) {
      const born = this.#create(operation, distinctId, update)
      return hasAll(born, update) ? born : null
    }
    const isDone = this.#change(operation, person, update, person.version + 1)
    return isDone ? person : null
  }

  /** Makes the person of both ids of a merge. */
  #createJoined(operation: Operation, into: string, source: string, update: PersonUpdate): DraftPerson {
    const person = this.#create(operation, into, update)
    person.isIdentified = true
    this.#project.attach(source, person)
    return person
  }

  /** Applies the event to the person that its merge led to. However much changes, the version grows once. */
  #identify(
    operation: Operation,
    person: DraftPerson,
    isMerged: boolean,
    update: PersonUpdate,
  ): DraftPerson | null {
    const version = isMerged ? person.version : person.version + 1
    if (!person.isIdentified) {
      person.isIdentified = true
      person.change(version)
    }
    return this.#change(operation, person, update, version) ? person : null
  }

  /** Makes a person with the properties that the event sets. */
  #create(operation: Operation, distinctId: string, update: PersonUpdate): DraftPerson {
    const { batch } = this.#input
    const properties = new Map<string, string>()
    const creator = `"${formatUuid(batch.uuids, operation.index * 16)}"`
    for (const [key, value] of [...update.setOnce, ...update.set]) properties.set(key, canonicalJson(value))
    properties.set(creatorKey, creator)
    const bytes = propertiesBytes(properties)
    if (bytes > propertiesBytesMax) {
      properties.clear()
      properties.set(creatorKey, creator)
      this.#warn(operation, 'person_properties_too_large', refusedDetail)
    } else if (bytes > propertiesTrimBytes) {
      trimProperties(properties)
      this.#warn(operation, 'person_properties_trimmed', trimmedDetail)
    }
    return this.#project.create(distinctId, timestampOf(batch, operation.index), properties)
  }

  /** Changes the properties of a person that was there before. Returns false when a limit stood in the way. */
  #change(operation: Operation, person: DraftPerson, update: PersonUpdate, version: number): boolean {
    if (operation.kind === 'birth') return true
    const outcome = changeProperties(person.properties, update, isSuppressing(operation))
    switch (outcome) {
      case 'unchanged':
        return true
      case 'changed':
        if (update.unset.length === 0) person.changeBySet(version)
        else person.change(version)
        return true
      case 'trimmed':
        person.change(version)
        this.#warn(operation, 'person_properties_trimmed', trimmedDetail)
        return false
      case 'refused':
        this.#warn(operation, 'person_properties_too_large', refusedDetail)
        return false
    }
  }

  #changeGroup(operation: Operation): void {
    const { batch } = this.#input
    if (operation.group === null) return
    const now = microsFromMs(batch.header.receivedAtMs)
    if (this.#project.groups.change(operation.group, timestampOf(batch, operation.index), now)) return
    this.#warn(operation, 'group_properties_too_large', 'the properties of a group may take 640 KiB')
  }

  #warn(operation: Operation, reason: IdentityWarning, detail: string): void {
    const { header, text } = this.#input.batch
    this.#tally.warn(reason, detail, {
      projectId: header.projectId,
      receivedAtMs: header.receivedAtMs,
      event: textValue(text.event, operation.index),
      distinctId: operation.distinctId,
    })
  }
}

/**
 * Whether a person was born with all properties that its event sets. What the event says of its creator it was not
 * born with, but gets from the next such event.
 */
function hasAll({ properties }: DraftPerson, { set, setOnce, unset }: PersonUpdate): boolean {
  if (set.has(creatorKey) || unset.includes(creatorKey)) return false
  return [...set.keys(), ...setOnce.keys()].every((key) => properties.has(key))
}

/** Whether new values of suppressed properties alone are no reason for this event to write a person. */
function isSuppressing({ kind }: Operation): boolean {
  return kind !== 'set' && kind !== 'identify' && kind !== 'alias' && kind !== 'merge'
}
