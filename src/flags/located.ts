// What a sender's address stands for when its flags are evaluated: seven properties, and only those that are known.

import { findPlace, type GeoipFiles } from '../geoip/database.ts'
import type { PlaceName } from '../geoip/place.ts'
import type { JsonObject } from './json-value.ts'

const derivedNames: ReadonlySet<string> = new Set<PlaceName>([
  '$geoip_city_name',
  '$geoip_country_name',
  '$geoip_country_code',
  '$geoip_continent_name',
  '$geoip_continent_code',
  '$geoip_postal_code',
  '$geoip_time_zone',
])

/** Returns the properties; null for an address that is at home, or that nobody knows. */
export function derivedProperties(files: GeoipFiles | null, address: string): JsonObject | null {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (files === null || plain === '127.0.0.1' || plain.startsWith('192.168.')) return null
  const place = findPlace(files, address)
  if (place === null) return null
  return Object.fromEntries(Object.entries(place).filter(([name]) => derivedNames.has(name)))
}
