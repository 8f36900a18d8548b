// Counts what was odd about the events of one request, by reason, with the last event as the sample.

import type { Remark } from './capture-task.ts'

/** Samples show who sent what, not the whole of it. */
const sampleCharsMax = 200

export class Remarks<Reason extends string> {
  readonly #byReason = new Map<Reason, Remark<Reason>>()

  add(reason: Reason, event: string, distinctId: string, detail: string): void {
    const count = (this.#byReason.get(reason)?.count ?? 0) + 1
    const sample = { event: cut(event), distinctId: cut(distinctId), detail: cut(detail) }
    this.#byReason.set(reason, { reason, count, sample })
  }

  /** Counts `count` events of which none was looked at. */
  addUnseen(reason: Reason, count: number, detail: string): void {
    const before = this.#byReason.get(reason)?.count ?? 0
    this.#byReason.set(reason, {
      reason,
      count: before + count,
      sample: { event: '', distinctId: '', detail },
    })
  }

  list(): Remark<Reason>[] {
    return [...this.#byReason.values()]
  }
}

function cut(text: string): string {
  if (text.length <= sampleCharsMax) return text
  // The first half of a split character becomes U+FFFD.
  return Buffer.from(text.slice(0, sampleCharsMax)).toString('utf8')
}
