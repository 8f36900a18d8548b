// How often a key may ask: 480 times a minute and 4,800 times an hour, counted from its first request of each; for
// definitions of flags, which are counted apart, 600 times a minute; and how often an address may come with keys nobody
// has, 10 times a minute. In memory, so a restart forgives.
//
// A key is counted by its id: one that is rolled goes on where it was. Its owner could make others, so all keys of a
// user together may ask ten times as often as one.

import { ServiceError } from '../errors.ts'
import { senderOf } from '../http/address.ts'
import type { Clock } from '../lib/clock.ts'
import type { AllowanceName } from './access.ts'

export interface Allowance {
  readonly count: number
  readonly ms: number
}

const keyAllowances: readonly Allowance[] = [
  { count: 480, ms: 60_000 },
  { count: 4_800, ms: 3_600_000 },
]
const definitionsAllowances: readonly Allowance[] = [{ count: 600, ms: 60_000 }]
const failureAllowances: readonly Allowance[] = [{ count: 10, ms: 60_000 }]
/** What all keys of a user have together, in allowances of one. */
const allowancesPerUser = 10
/** A key counts as right for this long after it was. */
const rightMs = 3_600_000
/** Keys, and addresses, remembered at once; past it the longest known is forgotten. */
const trackedMax = 10_000

interface Usage {
  readonly startMs: number
  count: number
}

/** Counts uses of names against the same allowances. */
export class Meter {
  readonly #allowances: readonly Allowance[]
  readonly #clock: Clock
  readonly #usages = new Map<string, (Usage | null)[]>()

  constructor(allowances: readonly Allowance[], clock: Clock) {
    this.#allowances = allowances
    this.#clock = clock
  }

  /** True while one of `name`'s periods is running. */
  knows(name: string): boolean {
    return this.#current(name).some((usage) => usage !== null)
  }

  count(name: string): void {
    const nowMs = this.#clock.monotonicMs()
    const usages = this.#current(name).map((usage) => usage ?? { startMs: nowMs, count: 0 })
    for (const usage of usages) usage.count++
    if (!this.#usages.has(name) && this.#usages.size >= trackedMax) {
      for (const oldest of this.#usages.keys()) {
        this.#usages.delete(oldest)
        break
      }
    }
    this.#usages.set(name, usages)
  }

  /** Milliseconds until `name` may come again; 0 when it may now. */
  waitMs(name: string): number {
    const nowMs = this.#clock.monotonicMs()
    const waits = this.#current(name).map((usage, index) => {
      const { count, ms } = this.#allowances[index]!
      return usage !== null && usage.count >= count ? usage.startMs + ms - nowMs : 0
    })
    return Math.max(...waits)
  }

  #current(name: string): (Usage | null)[] {
    const nowMs = this.#clock.monotonicMs()
    const usages = this.#usages.get(name)
    return this.#allowances.map(({ ms }, index) => {
      const usage = usages?.[index] ?? null
      return usage !== null && usage.startMs + ms > nowMs ? usage : null
    })
  }
}

/** A key that was found. */
export interface CountedKey {
  readonly keyId: string
  readonly userId: number
}

interface Meters {
  readonly keys: Meter
  readonly users: Meter
}

export class RateLimit {
  readonly #meters: Readonly<Record<AllowanceName, Meters>>
  readonly #right: Meter
  readonly #failures: Meter

  constructor(clock: Clock) {
    const metersOf = (allowances: readonly Allowance[]): Meters => ({
      keys: new Meter(allowances, clock),
      users: new Meter(
        allowances.map(({ count, ms }) => ({ count: count * allowancesPerUser, ms })),
        clock,
      ),
    })
    this.#meters = {
      management: metersOf(keyAllowances),
      definitions: metersOf(definitionsAllowances),
    }
    this.#right = new Meter([{ count: Number.POSITIVE_INFINITY, ms: rightMs }], clock)
    this.#failures = new Meter(failureAllowances, clock)
  }

  /**
   * Called before a key is looked up. An address that keeps sending wrong keys is held off, except with keys that were
   * right of late: others may sit behind the same address.
   * Errors: throttled.
   */
  checkAddress(address: string, keyHash: string): void {
    if (!this.#right.knows(keyHash)) refuseWhile(this.#failures.waitMs(senderOf(address)))
  }

  countFailure(address: string): void {
    this.#failures.count(senderOf(address))
  }

  /** Counts one request of the key that was found by `keyHash`. Errors: throttled. */
  countKey(keyHash: string, { keyId, userId }: CountedKey, allowance: AllowanceName = 'management'): void {
    this.#right.count(keyHash)
    const { keys, users } = this.#meters[allowance]
    const user = String(userId)
    refuseWhile(Math.max(keys.waitMs(keyId), users.waitMs(user)))
    keys.count(keyId)
    users.count(user)
  }
}

function refuseWhile(waitMs: number): void {
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1000)
  const detail = `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`
  throw new ServiceError('throttled', { detail, retryAfterSeconds: seconds })
}
