// Where an event came from, as text to put into its columns: looked up once for each address, here and not by the
// consumers, so that a replay finds the same place after the database of addresses has changed.

import { findPlace, type GeoipFiles } from '../geoip/database.ts'
import { placeNames } from '../geoip/place.ts'

export interface PlaceText {
  /** Members of an object without its braces: what is known. */
  readonly properties: Uint8Array
  /** The same of what is not known, all null, for the person alone: nobody stays in a city they have left. */
  readonly unknown: Uint8Array
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
  const unknown = placeNames.filter((name) => place[name] === undefined).map((name) => [name, null])
  return { properties: members(place), unknown: members(Object.fromEntries(unknown)) }
}

function members(value: object): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(value).slice(1, -1)))
}
