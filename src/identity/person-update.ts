// What an event asks its person to become: its own `$set`, `$set_once` and `$unset`, and what is derived from its
// properties. A value that describes the visit ($browser, utm_source, …) is set as it is, and its first value is kept
// as `$initial_…`.

import type { Micros } from '../lib/clock.ts'
import { readElements, readMembers, unquote } from './json-members.ts'
import type { OperationKind } from './operations.ts'
import { isFalsy } from './other-id.ts'

/** Values are JSON text as sent. Keys that are unset appear in neither of the others: unsetting comes last. */
export interface PersonUpdate {
  readonly set: ReadonlyMap<string, string>
  readonly setOnce: ReadonlyMap<string, string>
  readonly unset: readonly string[]
}

/** Members of a person column that are not properties to derive from. */
const ownMembers: ReadonlySet<string> = new Set([
  '$set',
  '$set_once',
  '$unset',
  '$groups',
  '$anon_distinct_id',
  'alias',
  '$group_type',
  '$group_key',
  '$group_set',
])

const initialNames = new Map<string, string>()

/** The update that an event asks for; `members` is its person column. */
export function personUpdate(
  members: ReadonlyMap<string, string>,
  kind: OperationKind,
  timestampMicros: Micros,
): PersonUpdate {
  const set = objectIn(members, '$set')
  const setOnce = objectIn(members, '$set_once')
  for (const [key, value] of members) {
    if (ownMembers.has(key) || key === '$os_name') continue
    setIfAbsent(set, key, value)
    setIfAbsent(setOnce, initialName(key), value)
  }
  deriveOs(members.get('$os_name'), set, setOnce)
  if (kind === 'survey') setIfAbsent(set, '$survey_last_seen_date', isoText(timestampMicros))
  const unset = namesIn(members.get('$unset'))
  for (const key of unset) {
    set.delete(key)
    setOnce.delete(key)
  }
  return { set, setOnce, unset }
}

/** `$os_name` stands in for a missing `$os`, and is never a person property itself. */
function deriveOs(name: string | undefined, set: Map<string, string>, setOnce: Map<string, string>): void {
  if (name === undefined) return
  if (!isFalsy(name)) {
    setIfAbsent(set, '$os', name)
    setIfAbsent(setOnce, '$initial_os', name)
  }
  set.delete('$os_name')
  setOnce.delete('$initial_os_name')
}

function initialName(key: string): string {
  let name = initialNames.get(key)
  if (name === undefined) {
    name = `$initial_${key.replace('$', '')}`
    initialNames.set(key, name)
  }
  return name
}

function setIfAbsent(target: Map<string, string>, key: string, value: string): void {
  if (!target.has(key)) target.set(key, value)
}

function objectIn(members: ReadonlyMap<string, string>, key: string): Map<string, string> {
  const text = members.get(key)
  return text?.startsWith('{') ? readMembers(text) : new Map()
}

function namesIn(text: string | undefined): string[] {
  if (text?.startsWith('{')) return [...readMembers(text).keys()]
  if (!text?.startsWith('[')) return []
  return readElements(text)
    .filter((element) => element.startsWith('"'))
    .map(unquote)
}

function isoText(micros: Micros): string {
  return `"${new Date(Math.floor(micros / 1000)).toISOString()}"`
}
