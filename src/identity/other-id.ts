// The second id that an identity event names: `$anon_distinct_id` of $identify, `alias` of the two others. It may be
// any JSON; it becomes the text that capture would make of it as a distinct_id, so that both mean the same person.

import { unquote } from './json-members.ts'
import type { MergeKind } from './operations.ts'

/** As many characters (code points) as capture leaves of a distinct_id. */
const idCharsMax = 200

/** The other id, legal or not; null when the event asks for no merge. */
export function otherIdOf(kind: MergeKind, members: ReadonlyMap<string, string>): string | null {
  const text = members.get(kind === 'identify' ? '$anon_distinct_id' : 'alias')
  if (text === undefined || text === 'null') return null
  if (kind !== 'identify' && isFalsy(text)) return null
  return cutId(idText(text))
}

/** Upstream's String(): objects and lists come out as nothing that anybody is called. */
export function idText(text: string): string {
  if (text.startsWith('"')) return unquote(text)
  return text.startsWith('{') || text.startsWith('[') ? String(JSON.parse(text)) : text
}

/** What JavaScript takes for false. */
export function isFalsy(text: string): boolean {
  if (text === 'null' || text === 'false' || text === '""') return true
  return /^[-\d]/.test(text) && Number(text) === 0
}

function cutId(id: string): string {
  if (id.length <= idCharsMax) return id
  return [...id].slice(0, idCharsMax).join('')
}
