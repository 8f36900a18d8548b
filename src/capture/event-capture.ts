// One event after the other: from the spans of a raw event to a row of the builder's columns, or to a drop.
//
// The way of an event: schema, name, uuid, distinct_id, person processing, timestamp, texts. A row that was begun and
// then dropped costs nothing: the builder begins the next one in its place.

import type { GeoipFiles } from '../geoip/database.ts'
import { assert } from '../lib/assert.ts'
import { parseUuid, parseUuidText, writeUuidV7 } from '../lib/uuid.ts'
import type { BornIds } from './born-ids.ts'
import type { DropReason, EncodedPart, Remark, WarningReason } from './capture-task.ts'
import { addToDedupKey, beginDedupKey, endDedupKey } from './dedup-key.ts'
import { distinctIdKey, idDistance, writeDistinctId } from './distinct-id.ts'
import { dropDetails } from './drop-details.ts'
import { elementsBytesMax, writeElementsChain } from './elements-chain.ts'
import { EventFlag } from './event-batch.ts'
import { EventBatchBuilder } from './event-batch-builder.ts'
import { checkEvent } from './event-checks.ts'
import { appendName, copyBornId, copyDedupKey, copyUuid } from './event-facts.ts'
import { Field, Property } from './event-keys.ts'
import { EventName, endOfName, findEventName, isIdentityEvent } from './event-names.ts'
import { timeOf } from './event-time.ts'
import type { EventTimestamp } from './event-timestamp.ts'
import { hasValue, isFalse, isObject, isString, isTrue, sampleText } from './event-values.ts'
import { openBracket } from './json-bytes.ts'
import { isSameText } from './key-index.ts'
import { writePerson } from './person-column.ts'
import type { CaptureProject } from './projects.ts'
import { PropertiesColumn } from './properties-column.ts'
import { Remarks } from './remarks.ts'
import { RepeatResolver } from './repeat-resolver.ts'
import { missingProperties } from './required-properties.ts'
import type { Scan } from './scan.ts'
import { createSetValues, isSetMalformed, settleSetValues } from './set-values.ts'
import { EventMark, type EventSpans } from './span-tape.ts'
import { appendUnescaped, unescapeText } from './unescape.ts'

/** What all events of a request share. */
export interface CaptureFacts {
  readonly project: CaptureProject
  readonly clientIp: string
  readonly geoip: GeoipFiles | null
  readonly receivedAtMs: number
  readonly sentAtMs: number | null
  readonly historical: boolean
  /** An event without a name is an `$identify`: the one event of an /engage request. */
  readonly isEngage: boolean
  readonly recordBytesMax: number
  readonly eventBytesMax: number
}

export interface CapturedEvents {
  readonly eventCount: number
  readonly drops: Remark<DropReason>[]
  readonly warnings: Remark<WarningReason>[]
}

/** What cookieless SDKs send in place of an id; no person may ever be called so. */
const cookielessId = new Uint8Array(Buffer.from('$posthog_cookieless'))

const identifyName = new Uint8Array(Buffer.from('$identify'))
const groupKeyUnitsMax = 400

/** The longest text of a UUID with every character escaped. */
const uuidTextBytesMax = 45 * 6

/**
 * Captures the events of one request at a time, between open and close, for the batch that is open. A request that is
 * not closed, since it failed, leaves nothing in the batch.
 */
export class EventCapture {
  readonly #builder = new EventBatchBuilder()
  readonly #properties = new PropertiesColumn()
  readonly #bornIds: BornIds
  readonly #setValues = createSetValues()
  readonly #resolver = new RepeatResolver()
  #facts: CaptureFacts | null = null
  #drops = new Remarks<DropReason>()
  #warnings = new Remarks<WarningReason>()
  #eventCount = 0

  /** `bornIds` are those that the records of its events are told of. */
  constructor(bornIds: BornIds) {
    this.#bornIds = bornIds
  }

  /** Begins a batch for requests of the same project, lane and time. One that was begun before is gone. */
  openBatch({ project, receivedAtMs, historical, recordBytesMax }: CaptureFacts): void {
    this.#builder.open({ projectId: project.id, receivedAtMs, historical, recordBytesMax })
  }

  /** Begins a request of the batch. */
  open(facts: CaptureFacts): void {
    const { project, sentAtMs, clientIp, geoip } = facts
    this.#facts = facts
    this.#drops = new Remarks()
    this.#warnings = new Remarks()
    this.#eventCount = 0
    this.#builder.beginRequest()
    this.#properties.open({ anonymizeIps: project.anonymizeIps, clientIp, sentAtMs, geoip })
  }

  /** The project of the request. */
  get projectId(): number {
    return this.#opened().project.id
  }

  /** Captures one event. Returns why it was dropped, or null. */
  capture(scan: Scan, spans: EventSpans): DropReason | null {
    const facts = this.#opened()
    if (spans.marks !== EventMark.mayRepeat) return this.#captureUnique(scan, spans, facts)
    if (spans.end - spans.start > 2 * facts.eventBytesMax) return this.#drop(scan, spans, 'event_too_big')
    const resolved = this.#resolver.resolve(scan, spans)
    return this.#captureUnique(resolved.scan, resolved.spans, facts)
  }

  /** Ends the request. */
  close(): CapturedEvents {
    this.#facts = null
    this.#builder.endRequest()
    return {
      eventCount: this.#eventCount,
      drops: this.#drops.list(),
      warnings: this.#warnings.list(),
    }
  }

  /** Ends the batch. */
  closeBatch(): EncodedPart[] {
    return this.#builder.close()
  }

  #opened(): CaptureFacts {
    assert(this.#facts !== null, 'a request is open')
    return this.#facts
  }

  /** Captures an event that has every key once. */
  #captureUnique(scan: Scan, spans: EventSpans, facts: CaptureFacts): DropReason | null {
    const fault = checkEvent(scan, spans, facts.eventBytesMax, facts.isEngage)
    if (fault !== null) return this.#drop(scan, spans, fault)
    const builder = this.#builder
    builder.beginEvent()
    const hasUuid = this.#writeUuid(scan, spans)
    if (hasUuid === null) return this.#drop(scan, spans, 'uuid_invalid')
    const name = this.#writeName(scan, spans)
    const { event, distinctId } = builder.text
    if (event.size === event.valueStart) return this.#drop(scan, spans, 'event_name_empty')
    if (name === EventName.$performance_event) return this.#drop(scan, spans, 'performance_event')
    if (name === EventName.$$client_ingestion_warning) {
      this.#warn(scan, spans, 'client_ingestion_warning', '')
      return null
    }
    if (!writeDistinctId(scan, spans, distinctId)) return this.#drop(scan, spans, 'distinct_id_missing')
    const isAnonymous = isFalse(scan, spans, Property.$process_person_profile)
    const refusal = this.#refuse(scan, spans, name, isAnonymous)
    if (refusal !== null) return this.#drop(scan, spans, refusal)
    const time = timeOf(scan, spans, facts)
    if (!hasUuid) writeUuidV7(Math.max(0, Math.floor(time.micros / 1000)), builder.uuids, builder.count * 16)
    this.#writeKeys(spans, facts.project.id, hasUuid)
    if (!this.#writeTexts(scan, spans, name, isAnonymous, facts)) {
      return this.#drop(scan, spans, 'event_too_big')
    }
    builder.endEvent(time.micros, this.#flags(scan, spans, name, isAnonymous, hasUuid))
    this.#eventCount++
    this.#remark(scan, spans, name, isAnonymous, time)
    return null
  }

  /** Writes the event's name and returns its number. */
  #writeName(scan: Scan, spans: EventSpans): number {
    const target = this.#builder.text.event
    const at = target.size
    if (appendName(spans, target)) return findEventName(target.bytes, at, target.size)
    if (hasValue(scan, spans, Field.event)) {
      appendUnescaped(scan, spans.starts[Field.event]! + 1, spans.ends[Field.event]! - 1, target)
      target.size = endOfName(target.bytes, at, target.size)
    } else {
      target.reserve(identifyName.length)
      target.append(identifyName, 0, identifyName.length)
    }
    return findEventName(target.bytes, at, target.size)
  }

  /** Writes the sender's uuid. Returns false when it sent none, null when it is no UUID. */
  #writeUuid(scan: Scan, spans: EventSpans): boolean | null {
    if (!hasValue(scan, spans, Field.uuid)) return false
    const { uuids, uuidWords, count } = this.#builder
    if (copyUuid(spans, uuidWords, count * 4)) return true
    const start = spans.starts[Field.uuid]! + 1
    const end = spans.ends[Field.uuid]! - 1
    if (start === end) return false
    if (parseUuid(scan.bytes, start, end, uuids, count * 16)) return true
    if (!scan.hasEscapes || end - start > uuidTextBytesMax) return null
    return parseUuidText(unescapeText(scan.bytes, start, end), uuids, count * 16) ? true : null
  }

  /** Why an event whose fields are in order may not be stored, or null. */
  #refuse(scan: Scan, spans: EventSpans, name: number, isAnonymous: boolean): DropReason | null {
    const id = this.#builder.text.distinctId
    if (isTrue(scan, spans, Property.$cookieless_mode)) return 'cookieless_mode_off'
    if (isSameText(cookielessId, id.bytes, id.valueStart, id.size)) {
      return 'cookieless_mode_off'
    }
    if (!isIdentityEvent(name)) return null
    if (isAnonymous) return 'person_processing_disabled'
    if (name !== EventName.$groupidentify || !isString(scan, spans, Property.$group_key)) return null
    const start = spans.starts[Property.$group_key]! + 1
    const end = spans.ends[Property.$group_key]! - 1
    if (end - start <= groupKeyUnitsMax) return null
    return unescapeText(scan.bytes, start, end).length > groupKeyUnitsMax ? 'group_key_too_long' : null
  }

  /** Writes what is derived from the ids. */
  #writeKeys(spans: EventSpans, projectId: number, hasUuid: boolean): void {
    const { text, uuidView, bornIdWords, dedupKeys, count } = this.#builder
    const { event, distinctId } = text
    if (!copyBornId(spans, bornIdWords, count * 4))
      this.#bornIds.write(projectId, distinctId, bornIdWords, count * 4)
    if (copyDedupKey(spans, dedupKeys, count * 2)) return
    dedupKeys[count * 2] = 0
    dedupKeys[count * 2 + 1] = 0
    if (!hasUuid) return
    beginDedupKey(projectId)
    addToDedupKey(uuidView, count * 16, count * 16 + 16)
    addToDedupKey(event.view, event.valueStart, event.size)
    addToDedupKey(distinctId.view, distinctId.valueStart, distinctId.size)
    endDedupKey(dedupKeys, count * 2)
  }

  /** Writes the three texts of the event. Returns false when one is too long. */
  #writeTexts(
    scan: Scan,
    spans: EventSpans,
    name: number,
    isAnonymous: boolean,
    facts: CaptureFacts,
  ): boolean {
    const { text, idDistances, digests, count } = this.#builder
    const { distinctId, properties, person, elementsChain } = text
    settleSetValues(scan, spans, this.#setValues)
    this.#properties.write(scan, spans, this.#setValues, isAnonymous, properties)
    idDistances[count] = idDistance(scan, spans, distinctId, this.#properties.stretches, properties)
    if (!isAnonymous) {
      digests[count] = writePerson(scan, spans, this.#setValues, name, this.#properties, properties, person)
    }
    const chain = spans.starts[Property.$elements_chain]!
    if (
      isString(scan, spans, Property.$elements_chain) &&
      spans.ends[Property.$elements_chain]! - chain > 2
    ) {
      appendUnescaped(scan, chain + 1, spans.ends[Property.$elements_chain]! - 1, elementsChain)
      return true
    }
    const elements = spans.starts[Property.$elements]!
    if (elements === 0 || scan.bytes[elements] !== openBracket) return true
    if (spans.ends[Property.$elements]! - elements > elementsBytesMax) return false
    return writeElementsChain(scan, elements, elementsChain, facts.eventBytesMax)
  }

  #flags(scan: Scan, spans: EventSpans, name: number, isAnonymous: boolean, hasUuid: boolean): number {
    let flags = hasUuid ? EventFlag.clientUuid : 0
    if (isAnonymous) flags |= EventFlag.anonymous
    if (isIdentityEvent(name)) flags |= EventFlag.identity
    if (isObject(scan, spans, Property.$groups)) flags |= EventFlag.groups
    return flags
  }

  /** Warns of what is odd about an event that is stored. */
  #remark(scan: Scan, spans: EventSpans, name: number, isAnonymous: boolean, time: EventTimestamp): void {
    if (time.remark !== null) this.#warn(scan, spans, time.remark, '')
    const profile = Property.$process_person_profile
    if (spans.starts[profile]! > 0 && !isAnonymous && !isTrue(scan, spans, profile)) {
      this.#warn(scan, spans, 'process_person_profile_invalid', '$process_person_profile must be a boolean')
    }
    if (!isAnonymous && isSetMalformed(scan, spans)) {
      this.#warn(scan, spans, 'set_malformed', '$set and $set_once must be objects')
    }
    if (name < 0) return
    const missing = missingProperties(scan, spans, this.#setValues, name)
    if (missing !== null) this.#warn(scan, spans, 'required_property_missing', `missing: ${missing}`)
  }

  #drop(scan: Scan, spans: EventSpans, reason: DropReason): DropReason {
    const event = sampleText(scan, spans, Field.event)
    this.#drops.add(reason, event, sampleText(scan, spans, distinctIdKey(scan, spans)), dropDetails[reason])
    return reason
  }

  #warn(scan: Scan, spans: EventSpans, reason: WarningReason, detail: string): void {
    const event = sampleText(scan, spans, Field.event)
    this.#warnings.add(reason, event, sampleText(scan, spans, distinctIdKey(scan, spans)), detail)
  }
}
