// What a database of addresses says of one, under the names of this API. Two schemas are read: MaxMind's nested one,
// and the flat one in which free databases are packed for npm.

import { continents, countries, type ICountryData } from 'countries-list'

/** Names of the properties, in the order in which they are stored. */
export const placeNames = [
  '$geoip_city_name',
  '$geoip_country_name',
  '$geoip_country_code',
  '$geoip_continent_name',
  '$geoip_continent_code',
  '$geoip_postal_code',
  '$geoip_latitude',
  '$geoip_longitude',
  '$geoip_accuracy_radius',
  '$geoip_time_zone',
  '$geoip_subdivision_1_code',
  '$geoip_subdivision_1_name',
] as const
export type PlaceName = (typeof placeNames)[number]

/** What is known: never null, never ''. */
export type Place = Readonly<Partial<Record<PlaceName, string | number>>>

type Fields = Readonly<Record<string, unknown>>

const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/** Returns the place of a record; null when the record tells none. */
export function placeOf(record: unknown): Place | null {
  const fields = fieldsIn(record)
  const values = typeof fields.country_code === 'string' ? flatPlace(fields) : nestedPlace(fields)
  const known = placeNames.flatMap((name) => {
    const value = values[name]
    const isKnown = (typeof value === 'string' && value !== '') || Number.isFinite(value)
    return isKnown ? [[name, value]] : []
  })
  return known.length === 0 ? null : Object.fromEntries(known)
}

function nestedPlace({ city, country, continent, postal, location, subdivisions }: Fields): Fields {
  const { time_zone, latitude, longitude, accuracy_radius } = fieldsIn(location)
  const first = fieldsIn(Array.isArray(subdivisions) ? subdivisions[0] : null)
  return {
    $geoip_city_name: nameIn(city),
    $geoip_country_name: nameIn(country),
    $geoip_country_code: fieldsIn(country).iso_code,
    $geoip_continent_name: nameIn(continent),
    $geoip_continent_code: fieldsIn(continent).code,
    $geoip_postal_code: fieldsIn(postal).code,
    $geoip_latitude: latitude,
    $geoip_longitude: longitude,
    $geoip_accuracy_radius: accuracy_radius,
    $geoip_time_zone: time_zone,
    $geoip_subdivision_1_code: first.iso_code,
    $geoip_subdivision_1_name: nameIn(first),
  }
}

/** The flat schema leaves the names of countries and continents to whoever reads it. */
function flatPlace(fields: Fields): Fields {
  const code = String(fields.country_code)
  const continent = continentOf(code)
  return {
    $geoip_city_name: fields.city,
    $geoip_country_name: /^[A-Z]{2}$/.test(code) ? countryNames.of(code) : undefined,
    $geoip_country_code: code,
    $geoip_continent_name: continent === null ? undefined : continents[continent],
    $geoip_continent_code: continent ?? undefined,
    $geoip_postal_code: fields.postcode,
    $geoip_latitude: numberIn(fields.latitude),
    $geoip_longitude: numberIn(fields.longitude),
    $geoip_time_zone: fields.timezone,
    $geoip_subdivision_1_name: fields.state1,
  }
}

function continentOf(code: string): keyof typeof continents | null {
  const byCode: Readonly<Record<string, Pick<ICountryData, 'continent'>>> = countries
  return Object.hasOwn(byCode, code) ? byCode[code]!.continent : null
}

function nameIn(value: unknown): unknown {
  return fieldsIn(fieldsIn(value).names).en
}

function numberIn(value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? Number(value) : value
}

function fieldsIn(value: unknown): Fields {
  // What the reader decodes as a map has string keys only.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
