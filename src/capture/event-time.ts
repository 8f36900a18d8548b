// The facts about time that an event and its request state, gathered for eventTimestamp.

import type { Micros } from '../lib/clock.ts'
import { offsetMs } from './event-checks.ts'
import { toldTimestamp } from './event-facts.ts'
import { Field, Property } from './event-keys.ts'
import { type EventTimestamp, eventTimestamp } from './event-timestamp.ts'
import { hasValue, isTrue } from './event-values.ts'
import type { Scan } from './scan.ts'
import type { EventSpans } from './span-tape.ts'
import { parseTimestamp, parseTimestampBytes } from './timestamp.ts'
import { unescapeText } from './unescape.ts'

interface RequestTime {
  readonly receivedAtMs: number
  readonly sentAtMs: number | null
  readonly historical: boolean
}

/** The longest text of a timestamp with every character escaped. */
const timestampTextBytesMax = 64 * 6

/** When the event happened, by its own word and what the request says. */
export function timeOf(scan: Scan, spans: EventSpans, facts: RequestTime): EventTimestamp {
  const hasTimestamp = hasValue(scan, spans, Field.timestamp)
  return eventTimestamp({
    timestamp: hasTimestamp ? parsedTimestamp(scan, spans) : null,
    hasTimestamp,
    offsetMs: offsetMs(scan, spans),
    sentAtMs: facts.sentAtMs,
    ignoreSentAt: isTrue(scan, spans, Property.$ignore_sent_at),
    historical: facts.historical,
    nowMs: facts.receivedAtMs,
  })
}

function parsedTimestamp(scan: Scan, spans: EventSpans): Micros | null {
  const told = toldTimestamp(spans)
  if (told !== null) return told
  const start = spans.starts[Field.timestamp]! + 1
  const end = spans.ends[Field.timestamp]! - 1
  const micros = parseTimestampBytes(scan.bytes, start, end)
  if (micros !== null || !scan.hasEscapes || end - start > timestampTextBytesMax) return micros
  return parseTimestamp(unescapeText(scan.bytes, start, end))
}
