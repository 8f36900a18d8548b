// How often a key may ask: 480 times a minute and 4,800 times an hour, counted from its first request of each; for
// definitions of flags, which are counted apart, 600 times a minute; and how often an address may come with keys nobody
// has, 10 times a minute. In memory, so a restart forgives.

import { ServiceError } from '../errors.ts'
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

export class RateLimit {
  readonly #keys: Readonly<Record<AllowanceName, Meter>>
  readonly #failures: Meter

  constructor(clock: Clock) {
    this.#keys = {
      management: new Meter(keyAllowances, clock),
      definitions: new Meter(definitionsAllowances, clock),
    }
    this.#failures = new Meter(failureAllowances, clock)
  }

  /**
   * Called before a key is looked up. An address that keeps sending wrong keys is held off, except with keys that were
   * right of late: others may sit behind the same address.
   * Errors: throttled.
   */
  checkAddress(address: string, keyHash: string): void {
    const isKnown = this.#keys.management.knows(keyHash) || this.#keys.definitions.knows(keyHash)
    if (!isKnown) refuseWhile(this.#failures.waitMs(address))
  }

  countFailure(address: string): void {
    this.#failures.count(address)
  }

  /** Counts one request of a key that exists. Errors: throttled. */
  countKey(keyHash: string, allowance: AllowanceName = 'management'): void {
    const meter = this.#keys[allowance]
    refuseWhile(meter.waitMs(keyHash))
    meter.count(keyHash)
  }
}

function refuseWhile(waitMs: number): void {
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1000)
  const detail = `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`
  throw new ServiceError('throttled', { detail, retryAfterSeconds: seconds })
}
