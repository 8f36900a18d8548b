// Ids that were sent as numbers, as they were sent: 12345678901234567890 and 1.0 are those texts to capture, which
// never reads them as numbers, and a flag has to be about the same person.

import { openBrace, quote } from '../capture/json-bytes.ts'
import { nextMember, openMembers } from '../capture/members.ts'
import { openScan, skipSpace } from '../capture/scan.ts'
import { unescapeText } from '../capture/unescape.ts'
import type { Bytes } from '../lib/bytes.ts'
import type { JsonObject } from './json-value.ts'

/** No id is longer, whatever was sent. */
const idBytesMax = 1000
/** A character takes six bytes at most, as an escape. */
const escapeBytesMax = 6

/** Returns `body`, which `bytes` are the JSON of, with the text of each of its members `names` that is a number. */
export function withNumbersAsSent(body: JsonObject, bytes: Bytes, names: readonly string[]): JsonObject {
  const asked = names.filter((name) => typeof body[name] === 'number')
  if (asked.length === 0) return body
  const nameBytesMax = escapeBytesMax * Math.max(...asked.map(({ length }) => length))
  const texts: Record<string, string> = {}
  try {
    const scan = openScan(bytes, false)
    const start = skipSpace(scan, 0)
    if (bytes[start] !== openBrace) return body
    const members = openMembers(scan, start)
    while (nextMember(scan, members)) {
      if (members.keyEnd - members.keyStart > nameBytesMax) continue
      const name = unescapeText(bytes, members.keyStart, members.keyEnd)
      if (!asked.includes(name)) continue
      // Of repeated names the last one counts, as it does for JSON.parse.
      if (bytes[members.start] === quote) continue
      texts[name] = unescapeText(bytes, members.start, Math.min(members.end, members.start + idBytesMax))
    }
  } catch {
    // What only a lenient reader takes (NaN, bytes that are no text) has its numbers in their shortest form.
    return body
  }
  return { ...body, ...texts }
}
