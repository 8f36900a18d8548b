// Where an event came from, as text to put into its columns: looked up once for each address, here and not by the
// consumers, so that a replay finds the same place after the database of addresses has changed.

import { findPlace, type GeoipFiles } from '../geoip/database.ts'
import { type PlaceName, placeNames } from '../geoip/place.ts'
import { Property } from './event-keys.ts'
import type { DigestedValues } from './person-digest.ts'

export interface PlaceText {
  /** Members of an object without its braces: what is known. */
  readonly properties: Uint8Array
  /** The same of what is not known, all null, for the person alone: nobody stays in a city they have left. */
  readonly unknown: Uint8Array
  /** The values of both, for the digest of what the event says of its person. */
  readonly digested: DigestedValues
}

const textsMax = 10_000

let cached: { version: number; texts: Map<string, PlaceText | null> } | null = null

/** Returns the texts of `address`, null when nobody knows where it is. */
export function placeText(files: GeoipFiles, address: string): PlaceText | null {
  if (cached?.version !== files.version) cached = { version: files.version, texts: new Map() }
  const { texts } = cached
  let text = texts.get(address)
  if (text === undefined) {
    text = makeText(files, address)
    if (texts.size >= textsMax) texts.clear()
    texts.set(address, text)
  }
  return text
}

function makeText(files: GeoipFiles, address: string): PlaceText | null {
  const place = findPlace(files, address)
  if (place === null) return null
  const members = placeNames.map((name): Member => [name, JSON.stringify(place[name] ?? null)])
  const known = members.filter(([name]) => place[name] !== undefined)
  const unknown = members.filter(([name]) => place[name] === undefined)
  return {
    properties: printed(known),
    unknown: printed(unknown),
    digested: digestedValues([...known, ...unknown]),
  }
}

/** A name and the text of its value. */
type Member = readonly [PlaceName, string]

function printed(members: readonly Member[]): Uint8Array {
  return new Uint8Array(Buffer.from(members.map(([name, text]) => `"${name}":${text}`).join(',')))
}

function digestedValues(members: readonly Member[]): DigestedValues {
  const text = new Uint8Array(Buffer.from(members.map(([, text]) => text).join('')))
  let end = 0
  const cells = members.flatMap(([name, text]) => {
    const start = end
    end += Buffer.byteLength(text)
    return [Property[name], start, end]
  })
  return { view: new DataView(text.buffer), cells: Int32Array.from(cells) }
}
