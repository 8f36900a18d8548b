// What an event's record says of its person when it was scanned in WebAssembly (wasm/person-run.ts): where the members
// of the person column stand, as runs that follow each other without anything between, and their digest. Told of events
// that only carry mapped properties and groups, spelt as JSON.stringify does; person-column does all others.
//
// The digest is the one of events that do not count everything (person-digest).

import { keyTexts, mappedFirst, Property, setFields, setProperties } from './event-keys.ts'
import type { KnownRun } from './known-run.ts'
import { keyHashes, leftOut } from './person-digest.ts'
import { personMember, personObject, suppressedMember, unusualKey } from './run-layout.ts'

/** They change the person by more than what is mapped, or say so of some events only. */
const unusualKeys = [
  ...setFields,
  ...setProperties,
  Property.$anon_distinct_id,
  Property.alias,
  Property.$group_type,
  Property.$group_key,
  Property.$group_set,
]

/** Tells a run what keys are to persons. */
export function describeKeys({ keyHashes: hashes, keySizes, personKinds }: KnownRun): void {
  hashes.set(keyHashes)
  for (const [key, text] of keyTexts.entries()) {
    keySizes[key] = text.length
    if (key >= mappedFirst) personKinds[key] = leftOut[key] === 1 ? suppressedMember : personMember
  }
  personKinds[Property.$groups] = personObject
  for (const key of unusualKeys) personKinds[key] = unusualKey
}
