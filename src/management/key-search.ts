// Asks Postgres about project API keys nobody knows, without letting strangers drive it: one query at a time carries
// all keys that came while the one before was running, and a key found unknown stays so for a few seconds.

import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'

/** What Postgres says of a key: `unavailable` when it cannot be asked. */
export type KeyAnswer = 'found' | 'unknown' | 'unavailable'

export interface KeySearch {
  /** Resolves with the answer; never with `unknown` when Postgres could not be asked. */
  ask(apiKey: string): Promise<KeyAnswer>
}

interface KeySearchOptions {
  /** Which of these keys exist. Whatever it throws means that nobody knows. */
  readonly find: (keys: readonly string[]) => Promise<readonly string[]>
  readonly clock: Clock
}

const unknownMs = 5_000
/** Requests wait for the answer: a database that takes longer is as good as away. */
const findMsMax = 3_000
/** Remembered unknown keys, and keys that wait for an answer. */
export const unknownKeysMax = 10_000
export const waitingKeysMax = 10_000

export function openKeySearch({ find, clock }: KeySearchOptions): KeySearch {
  /** Until when (monotonic ms) a key counts as unknown, oldest first. */
  const unknownUntilMs = new Map<string, number>()
  const waiting = new Map<string, ((answer: KeyAnswer) => void)[]>()
  let asking = false

  const askAll = async (): Promise<void> => {
    asking = true
    while (waiting.size > 0) {
      const batch = [...waiting]
      waiting.clear()
      const answer = await answers(batch.map(([key]) => key))
      for (const [key, resolvers] of batch) for (const resolve of resolvers) resolve(answer(key))
    }
    asking = false
  }
  const answers = async (keys: readonly string[]): Promise<(key: string) => KeyAnswer> => {
    try {
      const found = new Set(await inTime(find(keys)))
      for (const key of keys) if (!found.has(key)) remember(key)
      return (key) => (found.has(key) ? 'found' : 'unknown')
    } catch {
      return () => 'unavailable' // find has reported why
    }
  }
  const remember = (key: string): void => {
    unknownUntilMs.delete(key)
    unknownUntilMs.set(key, clock.monotonicMs() + unknownMs)
    const oldest = unknownUntilMs.keys().next()
    if (unknownUntilMs.size > unknownKeysMax && !oldest.done) unknownUntilMs.delete(oldest.value)
  }
  const ask = (apiKey: string): Promise<KeyAnswer> => {
    if (apiKey.includes('\0')) return Promise.resolve('unknown') // no text of Postgres holds one
    if ((unknownUntilMs.get(apiKey) ?? 0) > clock.monotonicMs()) return Promise.resolve('unknown')
    const others = waiting.get(apiKey)
    if (others === undefined && waiting.size >= waitingKeysMax) return Promise.resolve('unavailable')
    return new Promise((resolve) => {
      if (others === undefined) waiting.set(apiKey, [resolve])
      else others.push(resolve)
      if (!asking) void askAll()
    })
  }
  return { ask }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const settled = new AbortController()
  const tooLate = delay(findMsMax, undefined, { signal: settled.signal }).then(() => {
    throw new Error(`no answer within ${findMsMax} ms`)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    tooLate.catch(() => {}) // nobody waits for it any more
    settled.abort()
  }
}
