// The plain version of an event's digest: what person-digest.ts says, made of what the person column says.

import type { EventBatch } from '../../src/capture/event-batch.ts'
import { suppressedKeys } from '../../src/capture/suppression.ts'
import { kindOf, personColumn } from '../../src/identity/operations.ts'

/** The digest that event `index` must have. */
export function plainDigest(batch: EventBatch, index: number): number {
  const kind = kindOf(batch, index)
  const isAnonymous = (batch.flags[index]! & 2) !== 0
  if (isAnonymous || ['plain', 'birth', 'survey', 'group'].includes(kind)) return 0
  return digestOf(personColumn(batch, index), kind !== 'update')
}

function digestOf(members: ReadonlyMap<string, string>, countsAll: boolean): number {
  const words: number[] = []
  let isQuiet = !countsAll
  for (const [name, value] of members) {
    words.push(hashOf([...Buffer.from(`"${name}":`)]))
    if (!countsAll && suppressedKeys.has(name) && name !== '$os_name') continue
    isQuiet = false
    words.push(...wordsOf(Buffer.from(value)))
  }
  const low = hashOf([...words, 0])
  const high = words.reduce((state, word) => mix(state + word, 0x85ebca6b, 13), countsAll ? 1 : 2)
  // 32 bits and 9, then whether the event says only what is suppressed.
  const digest = BigInt(low >>> 0) * 1024n + (BigInt(high >>> 0) >> 23n) * 2n + (isQuiet ? 1n : 0n)
  return Number(digest === 0n ? 2n : digest)
}

/** A value's length; its bytes four by four from the first on, and the last four. */
function wordsOf(value: Buffer): number[] {
  const { length } = value
  if (length < 4) {
    return [length, Buffer.from([value[0]!, value[length >> 1]!, value[length - 1]!, 0]).readInt32LE(0)]
  }
  const words = [length]
  for (let at = 0; at < length - 4; at += 4) words.push(value.readInt32LE(at))
  return [...words, value.readInt32LE(length - 4)]
}

function hashOf(words: readonly number[]): number {
  return words.reduce((state, word) => mix(state ^ word, 0x9e3779b1, 15), 0x2545f491)
}

function mix(word: number, factor: number, shift: number): number {
  const product = Number(BigInt.asIntN(32, BigInt(word) * BigInt(factor)))
  return product ^ (product >>> shift)
}
