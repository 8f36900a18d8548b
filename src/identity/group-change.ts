// What a $groupidentify event says.

import { idText, isFalsy } from './other-id.ts'

/** Longest group type and group key, UTF-16 units. Capture drops events with a longer key. */
export const groupNameUnitsMax = 400

export interface GroupChange {
  readonly type: string
  readonly key: string
  /** `$group_set`: JSON text of an object. */
  readonly set: string
}

/** The change an event's person column asks for; null when it lacks a type or a key. */
export function groupNamed(members: ReadonlyMap<string, string>): GroupChange | null {
  const type = nameOf(members.get('$group_type'))
  const key = nameOf(members.get('$group_key'))
  if (type === null || key === null) return null
  const set = members.get('$group_set')
  return { type, key, set: set?.startsWith('{') ? set : '{}' }
}

function nameOf(text: string | undefined): string | null {
  if (text === undefined || isFalsy(text)) return null
  const name = idText(text)
  return name.length > groupNameUnitsMax ? null : name
}
