// Sets of the keys that somebody asks for by name, as bits: what an event has and what somebody looks for are compared
// at once, in place of key by key.

import { assert } from '../lib/assert.ts'
import { mappedFirst } from './event-keys.ts'

export interface KeySet {
  /** Keys below 32, and those from there on. */
  low: number
  high: number
}

assert(mappedFirst < 64, 'all keys that are asked for by name have a bit')

export function createKeySet(keys: readonly number[] = []): KeySet {
  const set: KeySet = { low: 0, high: 0 }
  for (const key of keys) addKey(set, key)
  return set
}

export function addKey(set: KeySet, key: number): void {
  if (key < 32) set.low |= 1 << key
  else set.high |= 1 << (key - 32)
}

/** Makes `set` hold what `other` does. */
export function copyKeys(set: KeySet, { low, high }: KeySet): void {
  set.low = low
  set.high = high
}

/** Adds all keys of `other`. */
export function addKeys(set: KeySet, other: KeySet): void {
  set.low |= other.low
  set.high |= other.high
}

export function holdsKey({ low, high }: KeySet, key: number): boolean {
  return ((key < 32 ? low >>> key : high >>> (key - 32)) & 1) === 1
}

export function shareKeys(one: KeySet, other: KeySet): boolean {
  return ((one.low & other.low) | (one.high & other.high)) !== 0
}
