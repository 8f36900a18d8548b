// The person column of an event: a JSON object with what the persons consumer needs and nothing else. Its header in
// event-batch.ts says what it may hold.

import { mappedFirst, Property } from './event-keys.ts'
import { EventName } from './event-names.ts'
import { insertEntry } from './properties-edit.ts'
import { closeBrace, letterN, openBrace, type Scan } from './scan.ts'
import type { SetValue, SetValues } from './set-values.ts'
import type { EventSpans } from './span-tape.ts'
import type { TextArena } from './text-arena.ts'

/** Appends the column of an event that is not anonymous; nothing when there is nothing to say. */
export function writePerson(
  scan: Scan,
  spans: EventSpans,
  values: SetValues,
  name: number,
  target: TextArena,
): void {
  const start = target.size
  const isGroupChange = name === EventName.$groupidentify
  const mapsProperties = !isGroupChange && name !== EventName.$snapshot
  let count = 0
  target.reserve(2)
  target.put(openBrace)
  if (!isGroupChange) {
    count = insertSet(values.set, count, target)
    count = insertSet(values.setOnce, count, target)
    count = insertSet(values.unset, count, target)
  }
  for (let index = 0; index < spans.entryCount; index++) {
    const key = spans.entryKeys[index]!
    if (key >= mappedFirst ? !mapsProperties : !belongs(scan, spans, key, name)) continue
    count = insertEntry(target, count, key, scan.bytes, spans.starts[key]!, spans.ends[key]!)
  }
  if (count === 0) target.size = start
  else {
    target.reserve(1)
    target.put(closeBrace)
  }
}

function insertSet(value: SetValue, count: number, target: TextArena): number {
  if (value.start === value.end) return count
  return insertEntry(target, count, value.key, value.bytes, value.start, value.end)
}

/** Whether a property that is not mapped tells of persons or groups in an event of this name. */
function belongs(scan: Scan, spans: EventSpans, key: number, name: number): boolean {
  switch (key) {
    case Property.$groups:
      return scan.bytes[spans.starts[key]!] === openBrace
    case Property.$anon_distinct_id:
      return name === EventName.$identify && scan.bytes[spans.starts[key]!] !== letterN
    case Property.alias:
      return name === EventName.$create_alias || name === EventName.$merge_dangerously
    case Property.$group_type:
    case Property.$group_key:
    case Property.$group_set:
      return name === EventName.$groupidentify
    default:
      return false
  }
}
