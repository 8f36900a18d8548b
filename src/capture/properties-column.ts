// The properties column of an event: what the client sent, plus what the rules of ingestion add (`$ip`, `$sent_at`,
// the merged `$set`, `$set_once` and `$unset`), minus what they move elsewhere or forbid.

import type { GeoipFiles } from '../geoip/database.ts'
import { placeNames } from '../geoip/place.ts'
import { Field, keyTexts, Property, setProperties } from './event-keys.ts'
import { letterN, quote } from './json-bytes.ts'
import { addKey, addKeys, copyKeys, createKeySet, type KeySet } from './key-set.ts'
import { type PlaceText, placeText } from './place-text.ts'
import {
  closeProperties,
  copyProperties,
  createKeyPlaces,
  createStretches,
  insertEntries,
  insertEntry,
  type KeyPlaces,
  type Stretches,
} from './properties-edit.ts'
import type { Scan } from './scan.ts'
import type { SetValue, SetValues } from './set-values.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'
import { unescapeText } from './unescape.ts'

/** What the column takes from the request. */
export interface PropertiesFacts {
  readonly anonymizeIps: boolean
  /** '' when unknown. */
  readonly clientIp: string
  readonly sentAtMs: number | null
  /** Where addresses are; null when nobody knows. */
  readonly geoip: GeoipFiles | null
}

const localIpEntry = entryText(Property.$ip, '127.0.0.1')
const emptyProperties = new Uint8Array(Buffer.from('{}'))
/** No address is longer, brackets, zone and escapes included. */
const ipBytesMax = 128
const uuidLength = 36
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Elements have a column of their own. */
const movedKeys: readonly number[] = [Property.$elements, Property.$elements_chain]

/** Where the event came from. A place that we know goes before one that it says. */
const placeKeys: KeySet = createKeySet(placeNames.map((name) => Property[name]))

/** What an event without person processing may not say. */
const personalKeys = [
  ...setProperties,
  Property.$group_0,
  Property.$group_1,
  Property.$group_2,
  Property.$group_3,
  Property.$group_4,
]

const removedKeys = createKeySet([...movedKeys, Property.$process_person_profile])
const removedIfAnonymous = createKeySet([...movedKeys, ...personalKeys])

export class PropertiesColumn {
  /** Where the event written last came from; null when nobody knows, or may know. */
  place: PlaceText | null = null
  /** Where in the column the properties of the event written last are: those that stayed, those put in, its place. */
  readonly stretches: Stretches = createStretches()
  readonly places: KeyPlaces = createKeyPlaces()
  placeStart = 0
  #anonymizesIps = false
  #clientIp = ''
  #geoip: GeoipFiles | null = null
  #ipEntry: Uint8Array | null = null
  #sentAtEntry: Uint8Array | null = null
  readonly #removed: KeySet = createKeySet()
  readonly #removedIfAnonymous: KeySet = createKeySet()
  /** Of the event in hand. */
  readonly #removedHere: KeySet = createKeySet()

  /** Begins a request. */
  open(facts: PropertiesFacts): void {
    this.#anonymizesIps = facts.anonymizeIps
    if (facts.clientIp !== this.#clientIp) {
      // Senders of many small requests come from few addresses.
      this.#clientIp = facts.clientIp
      this.#ipEntry = facts.clientIp === '' ? null : entryText(Property.$ip, facts.clientIp)
    }
    this.#geoip = facts.geoip
    this.place = null
    this.#sentAtEntry =
      facts.sentAtMs === null ? null : entryText(Property.$sent_at, new Date(facts.sentAtMs).toISOString())
    copyKeys(this.#removed, removedKeys)
    copyKeys(this.#removedIfAnonymous, removedIfAnonymous)
    for (const set of [this.#removed, this.#removedIfAnonymous]) {
      if (facts.anonymizeIps) addKey(set, Property.$ip)
      if (this.#sentAtEntry !== null) addKey(set, Property.$sent_at)
    }
  }

  /** Appends the properties of an event. `values` are the event's own unless it is anonymous. */
  write(scan: Scan, spans: EventSpans, values: SetValues, isAnonymous: boolean, target: TextArena): void {
    const removed = this.#removedHere
    copyKeys(removed, isAnonymous ? this.#removedIfAnonymous : this.#removed)
    const ipEntry = this.#insertedIp(scan, spans)
    const sessionEntry = lowerSessionId(scan, spans)
    if (ipEntry !== null) addKey(removed, Property.$ip)
    if (sessionEntry !== null) addKey(removed, Property.$session_id)
    if (this.#geoip !== null) {
      this.place = this.#placeOf(scan, spans, this.#geoip, ipEntry !== null)
      if (this.place !== null) addKeys(removed, placeKeys)
    }
    const hasMerged = !isAnonymous && values.areMerged
    if (hasMerged) {
      addMergedKey(removed, values.set)
      addMergedKey(removed, values.setOnce)
      addMergedKey(removed, values.unset)
    }
    const start = spans.starts[Field.properties]!
    const source = start === 0 ? emptyProperties : scan.bytes
    const end = start === 0 ? emptyProperties.length : spans.ends[Field.properties]!
    let count = copyProperties(source, spans, start, end, removed, this.stretches, target)
    if (hasMerged) {
      count = this.#insertSet(values.set, count, target)
      count = this.#insertSet(values.setOnce, count, target)
      count = this.#insertSet(values.unset, count, target)
    }
    if (sessionEntry !== null) insertEntries(target, count++, sessionEntry)
    if (ipEntry !== null) insertEntries(target, count++, ipEntry)
    if (this.#sentAtEntry !== null) insertEntries(target, count++, this.#sentAtEntry)
    if (this.place !== null) {
      insertEntries(target, count, this.place.properties)
      this.placeStart = target.size - this.place.properties.length
    }
    closeProperties(target)
  }

  #insertSet(value: SetValue, count: number, target: TextArena): number {
    if (!value.isMerged) return count
    const after = insertEntry(target, count, value.key, value.bytes, value.start, value.end)
    this.places[value.key] = target.size - (value.end - value.start)
    return after
  }

  /** By the event's own address, or by its sender's when that is what is stored. */
  #placeOf(scan: Scan, spans: EventSpans, files: GeoipFiles, isSenders: boolean): PlaceText | null {
    if (this.#anonymizesIps || isTrueLike(scan, spans, Property.$geoip_disable)) return null
    if (isSenders)
      return spans.starts[Property.capture_internal]! > 0 ? null : placeText(files, this.#clientIp)
    const start = spans.starts[Property.$ip]!
    const end = spans.ends[Property.$ip]!
    if (start === 0 || scan.bytes[start] !== quote || end - start > ipBytesMax) return null
    return placeText(files, unescapeText(scan.bytes, start + 1, end - 1))
  }

  /** The address to store in an event that brought none. */
  #insertedIp(scan: Scan, spans: EventSpans): Uint8Array | null {
    if (this.#anonymizesIps) return null
    const start = spans.starts[Property.$ip]!
    const isEmpty = start > 0 && spans.ends[Property.$ip]! - start === 2 && scan.bytes[start] === quote
    if (start > 0 && scan.bytes[start] !== letterN && !isEmpty) return null
    return spans.starts[Property.capture_internal]! > 0 ? localIpEntry : this.#ipEntry
  }
}

function addMergedKey(set: KeySet, { key, isMerged }: SetValue): void {
  if (isMerged) addKey(set, key)
}

/** What JavaScript takes for true. */
function isTrueLike(scan: Scan, spans: EventSpans, key: number): boolean {
  const start = spans.starts[key]!
  if (start === 0) return false
  const text = Buffer.from(scan.bytes.subarray(start, Math.min(spans.ends[key]!, start + 6))).toString(
    'latin1',
  )
  return !['false', 'null', '0', '""'].includes(text)
}

/**
 * Writes a session id that is a UUID in lower case: where it stands, as it gets no longer. Only one spelt with
 * escapes comes back as an entry to put in its place.
 */
function lowerSessionId(scan: Scan, spans: EventSpans): Uint8Array | null {
  const { bytes } = scan
  const start = spans.starts[Property.$session_id]! + 1
  const end = spans.ends[Property.$session_id]! - 1
  if (start === 1 || end - start < uuidLength || bytes[start - 1] !== quote) return null
  if (end - start > uuidLength * 6 || !mayHoldCapitals(scan, start, end)) return null
  const text = unescapeText(bytes, start, end)
  if (!uuidShape.test(text)) return null
  if (end - start > uuidLength) return entryText(Property.$session_id, text.toLowerCase())
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= 0x41 && byte <= 0x46) bytes[at] = byte | 0x20
  }
  return null
}

/** Whether a byte of [start, end), which is longer than 4, is a capital, a backslash or one of a few others. */
function mayHoldCapitals({ view }: Scan, start: number, end: number): boolean {
  let found = 0
  for (let at = start; at < end; at += 4) {
    const word = view.getInt32(Math.min(at, end - 4), true)
    // 0x40 to 0x5f: the sixth bit is not set, the seventh is.
    found |= word & ~(word << 1)
  }
  return (found & 0x40404040) !== 0
}

/** The key and a string as its value, without what no store can hold. */
function entryText(key: number, text: string): Uint8Array {
  const wellFormed = Buffer.from(text).toString('utf8').replaceAll('\0', '\ufffd')
  return new Uint8Array(Buffer.concat([keyTexts[key]!, Buffer.from(JSON.stringify(wellFormed))]))
}
