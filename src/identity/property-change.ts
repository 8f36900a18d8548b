// Applies an update to the properties of a person. Properties are canonical JSON texts by key (canonical-json.ts).

import { isSuppressed } from '../capture/suppression.ts'
import { canonicalJson } from './canonical-json.ts'
import type { PersonUpdate } from './person-update.ts'
import {
  propertiesBytes,
  propertiesBytesMax,
  propertiesTrimBytes,
  trimProperties,
} from './property-bounds.ts'

/**
 * unchanged  the update says nothing new, or nothing worth writing
 * changed    it was applied
 * trimmed    it was applied, and other properties went to make room
 * refused    it would have made the person too large; nothing was applied
 */
export type PropertyOutcome = 'unchanged' | 'changed' | 'trimmed' | 'refused'

/**
 * Applies `update`, sets before unsets. With `suppresses`, an update that brings nothing but new values of suppressed
 * properties is not applied; when it brings anything else, all of it is. A value equal to the stored one is no change,
 * objects included (upstream takes those for changed each time).
 */
export function changeProperties(
  properties: Map<string, string>,
  update: PersonUpdate,
  suppresses: boolean,
): PropertyOutcome {
  const writes = new Map<string, string>()
  const removals = update.unset.filter((key) => properties.has(key))
  let isWorthIt = removals.length > 0
  for (const [key, value] of update.setOnce) {
    if (properties.has(key) || update.set.has(key)) continue
    writes.set(key, canonicalJson(value))
    isWorthIt = true
  }
  for (const [key, value] of update.set) {
    const stored = properties.get(key)
    if (stored === value) continue
    const canonical = canonicalJson(value)
    if (stored === canonical) continue
    writes.set(key, canonical)
    if (stored === undefined || !suppresses || !isSuppressed(key)) isWorthIt = true
  }
  if (!isWorthIt || writes.size + removals.length === 0) return 'unchanged'
  return write(properties, writes, removals)
}

/** The properties of two persons that become one: those of `survivor` prevail. */
export function mergeProperties(
  source: ReadonlyMap<string, string>,
  survivor: ReadonlyMap<string, string>,
): { readonly properties: Map<string, string>; readonly isTrimmed: boolean } {
  const properties = new Map([...source, ...survivor])
  const isTrimmed = propertiesBytes(properties) > propertiesTrimBytes
  if (isTrimmed) trimProperties(properties)
  return { properties, isTrimmed }
}

function write(
  properties: Map<string, string>,
  writes: ReadonlyMap<string, string>,
  removals: readonly string[],
): PropertyOutcome {
  // What is written replaces some of what is there: no person far from the limits comes to more than both.
  const isFar = propertiesBytes(properties) + propertiesBytes(writes) <= propertiesTrimBytes
  const before = isFar ? null : new Map(properties)
  for (const [key, value] of writes) properties.set(key, value)
  for (const key of removals) properties.delete(key)
  // What only removes is never too much.
  if (before === null || writes.size === 0) return 'changed'
  const bytes = propertiesBytes(properties)
  if (bytes > propertiesBytesMax) {
    properties.clear()
    for (const [key, value] of before) properties.set(key, value)
    return 'refused'
  }
  if (bytes <= propertiesTrimBytes) return 'changed'
  trimProperties(properties)
  return 'trimmed'
}
