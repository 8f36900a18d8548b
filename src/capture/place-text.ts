// Where an event came from, as text to put into its columns: looked up once for each address, here and not by the
// consumers, so that a replay finds the same place after the database of addresses has changed.

import { findPlace, type GeoipFiles } from '../geoip/database.ts'
import { placeNames } from '../geoip/place.ts'

export interface PlaceText {
  /** Members of an object without its braces: what is known. */
  readonly properties: Uint8Array
  readonly propertyCount: number
  /** The same for the person, with null for what is not known: nobody stays in a city they have left. */
  readonly person: Uint8Array
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
  const whole = Object.fromEntries(placeNames.map((name) => [name, place[name] ?? null]))
  return { properties: members(place), propertyCount: Object.keys(place).length, person: members(whole) }
}

function members(value: object): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(value).slice(1, -1)))
}
