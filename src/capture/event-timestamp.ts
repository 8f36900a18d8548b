// When an event happened: the sender's word, corrected by the sender's clock, within reason.

import { type Micros, microsFromMs } from '../lib/clock.ts'
import type { WarningReason } from './capture-task.ts'

/** What an event and its request say about time. */
export interface TimeFacts {
  /** The event's `timestamp`, parsed; null when it is absent or cannot be read. */
  readonly timestamp: Micros | null
  /** The event has a `timestamp`. */
  readonly hasTimestamp: boolean
  /** The event's `offset`: how long before now it happened, ms. */
  readonly offsetMs: number | null
  /** When the sender says it sent the request, epoch ms. */
  readonly sentAtMs: number | null
  /** `$ignore_sent_at` is true. */
  readonly ignoreSentAt: boolean
  readonly historical: boolean
  /** When the request was complete, epoch ms. */
  readonly nowMs: number
}

type TimestampRemark = Extract<
  WarningReason,
  'timestamp_unparseable' | 'timestamp_missing' | 'timestamp_in_future'
>

export interface EventTimestamp {
  readonly micros: Micros
  readonly remark: TimestampRemark | null
}

/** An event may lie this far in the future, inclusive: the clocks of the world's time zones taken for UTC. */
const futureMicrosMax = 23 * 3600 * 1_000_000
const year0Micros = Date.UTC(2000, 0, 1) * 1000 - 5 * 146_097 * 86_400 * 1_000_000 // five cycles of 400 years
const year10000Micros = Date.UTC(10_000, 0, 1) * 1000

/**
 * Settles an event's timestamp. `offset` outranks `timestamp`; the difference between `sent_at` and now is the error
 * of the sender's clock and is taken off, except for historical events; nothing usable means now; outside the years
 * 0 to 9999 means the epoch; more than 23 hours ahead means now.
 */
export function eventTimestamp(facts: TimeFacts): EventTimestamp {
  const nowMicros = microsFromMs(facts.nowMs)
  let micros: number = nowMicros
  let remark: TimestampRemark | null = null
  if (facts.offsetMs !== null) {
    micros -= facts.offsetMs * 1000
  } else if (facts.timestamp !== null) {
    const correctsClock = facts.sentAtMs !== null && !facts.ignoreSentAt && !facts.historical
    const aheadMicros = correctsClock ? microsFromMs(facts.sentAtMs - facts.nowMs) : 0
    micros = facts.timestamp - aheadMicros
  } else if (facts.hasTimestamp) {
    remark = 'timestamp_unparseable'
  } else if (facts.historical) {
    remark = 'timestamp_missing'
  }
  if (micros < year0Micros || micros >= year10000Micros) {
    micros = 0
    remark = 'timestamp_unparseable'
  } else if (micros - nowMicros > futureMicrosMax) {
    micros = nowMicros
    remark = 'timestamp_in_future'
  }
  return { micros: micros as Micros, remark } // a sum of Micros
}
