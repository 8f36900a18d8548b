// What the events of a batch do to persons and groups, in order: one operation for every event that is neither a
// duplicate nor anonymous. An anonymous event does nothing here: its row carries its born id, and the override that a
// later merge writes takes it along.
//
// A plain event costs the text of its distinct_id. Only events that may merge or change a group have their person
// column read here, because what they name must be loaded before the fold.

import { type EventBatch, EventFlag } from '../capture/event-batch.ts'
import { personText } from '../capture/person-pieces.ts'
import { textValue, valueSize, valueStart } from '../capture/text-column.ts'
import { assert } from '../lib/assert.ts'
import { type GroupChange, groupNamed } from './group-change.ts'
import { readMembers } from './json-members.ts'
import { otherIdOf } from './other-id.ts'

/**
 * plain     says nothing: the person is only born
 * update    person properties, some suppressed
 * set       person properties, none suppressed (`$set`)
 * birth     person properties for a person that is born with the event (`$exception`, `$$heatmap`)
 * survey    an update that also notes when a survey was seen (`survey shown`)
 * identify, alias, merge    joins two ids when `otherId` is not null (`$identify`, `$create_alias`,
 *           `$merge_dangerously`)
 * group     changes a group (`$groupidentify`)
 */
export type OperationKind =
  | 'plain'
  | 'update'
  | 'set'
  | 'birth'
  | 'survey'
  | 'identify'
  | 'alias'
  | 'merge'
  | 'group'

/** Kinds that join ids. */
export type MergeKind = 'identify' | 'alias' | 'merge'

export interface Operation {
  /** Of the event in its batch. */
  readonly index: number
  readonly kind: OperationKind
  readonly distinctId: string
  /** Of what the event says of its person (person-digest.ts), if that is all it does; else 0. */
  readonly digest: number
  readonly hasGroups: boolean
  /** The id to join with distinctId. */
  readonly otherId: string | null
  /** What a group operation says, when it says it properly. */
  readonly group: GroupChange | null
  /** Its person column, if that was read for any of these. */
  readonly members: ReadonlyMap<string, string> | null
}

/** Events [from, to) of a batch. */
export interface EventsInput {
  readonly kind: 'events'
  readonly batch: EventBatch
  readonly operations: readonly Operation[]
  /** Events that are no duplicates, anonymous ones included. */
  readonly eventCount: number
}

/** Removes a person with all its ids. One that is gone by then, merged into another, stays that other. */
export interface DeletePersonInput {
  readonly kind: 'delete_person'
  readonly projectId: number
  readonly personUuid: string
  /** Also hides the events received up to `deletedAtMs`, which is fixed in the command. */
  readonly deletesEvents: boolean
  readonly deletedAtMs: number
}

export interface DeleteProjectInput {
  readonly kind: 'delete_project'
  readonly projectId: number
}

export type StepInput = EventsInput | DeletePersonInput | DeleteProjectInput

/** Events [from, to) of a batch, whose operations were not read yet. */
export interface EventsRange {
  readonly kind: 'events'
  readonly batch: EventBatch
  /** Bit i & 7 of byte i >> 3 is set for a duplicate i; null when there is none. */
  readonly duplicates: Uint8Array | null
  readonly from: number
  readonly to: number
}

export type UnreadInput = EventsRange | DeletePersonInput | DeleteProjectInput

/** Reads all of an input. */
export function readInput(input: UnreadInput): StepInput {
  return input.kind === 'events' ? readOperations(input, null) : input
}

/** Reads the operations of a range but for events that are passed over: `isPassed` is 1 from its first event on. */
export function readOperations(
  { batch, duplicates, from, to }: EventsRange,
  isPassed: Uint8Array | null,
): EventsInput {
  const operations: Operation[] = []
  let eventCount = 0
  for (let index = from; index < to; index++) {
    if (isDuplicate(duplicates, index)) continue
    eventCount++
    if (isPassed !== null && isPassed[index - from] === 1) continue
    if ((batch.flags[index]! & EventFlag.anonymous) !== 0) continue
    operations.push(readOperation(batch, index))
  }
  return { kind: 'events', batch, operations, eventCount }
}

/** What was read of a range, and the operations of events that were passed over, by their indexes. */
export function addOperations(
  input: EventsInput,
  { batch }: EventsRange,
  indexes: readonly number[],
): EventsInput {
  const added = indexes.map((index) => readOperation(batch, index))
  const operations = [...input.operations, ...added].sort((one, other) => one.index - other.index)
  return { ...input, operations }
}

/** Whether event `index` of a range is one. */
export function isDuplicate(duplicates: EventsRange['duplicates'], index: number): boolean {
  return duplicates !== null && (duplicates[index >> 3]! & (1 << (index & 7))) !== 0
}

/** The members of an event's person column, as they were sent. */
export function personColumn(batch: EventBatch, index: number): ReadonlyMap<string, string> {
  return isColumnEmpty(batch, index) ? new Map() : readMembers(personText(batch, index))
}

function readOperation(batch: EventBatch, index: number): Operation {
  const flags = batch.flags[index]!
  const kind = kindOf(batch, index)
  let otherId: string | null = null
  let group: GroupChange | null = null
  let members: ReadonlyMap<string, string> | null = null
  if ((flags & EventFlag.identity) !== 0) {
    members = personColumn(batch, index)
    if (kind === 'group') group = groupNamed(members)
    else {
      assert(kind === 'identify' || kind === 'alias' || kind === 'merge', 'an identity event joins ids')
      otherId = otherIdOf(kind, members)
    }
  }
  return {
    index,
    kind,
    distinctId: textValue(batch.text.distinctId, index),
    // One that names no other id does what a set does.
    digest: otherId === null ? batch.digests[index]! : 0,
    hasGroups: (flags & EventFlag.groups) !== 0,
    otherId,
    group,
    members,
  }
}

/** What the event is by its name, which is made a string only when it looks like one that matters. */
export function kindOf(batch: EventBatch, index: number): OperationKind {
  const name = batch.text.event
  const length = valueSize(name, index)
  const secondByte = name.bytes[valueStart(name, index) + 1]!
  if (length < lookLengthMax && looks[lookOf(length, secondByte)] === 1) {
    const kind = kindsByName.get(textValue(name, index))
    if (kind !== undefined) return kind
  }
  return isColumnEmpty(batch, index) ? 'plain' : 'update'
}

const kindsByName: ReadonlyMap<string, OperationKind> = new Map([
  ['$set', 'set'],
  ['$identify', 'identify'],
  ['$$heatmap', 'birth'],
  ['$exception', 'birth'],
  ['survey shown', 'survey'],
  ['$create_alias', 'alias'],
  ['$groupidentify', 'group'],
  ['$merge_dangerously', 'merge'],
])

/** Names of other events seldom have both the length and the second letter of one of them. */
const lookLengthMax = 32
const looks = new Uint8Array(lookLengthMax * 256)
for (const name of kindsByName.keys()) looks[lookOf(name.length, name.charCodeAt(1))] = 1

function lookOf(length: number, secondByte: number): number {
  return length * 256 + secondByte
}

function isColumnEmpty(batch: EventBatch, index: number): boolean {
  return valueSize(batch.text.person, index) === 0
}
