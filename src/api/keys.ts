// Keys: how they are made, stored and shown. A key is its prefix and 256 random bits in base 62; a personal API key is
// stored as a hash only, which needs no salt because nobody can guess 256 bits.

import { createHash, randomBytes } from 'node:crypto'

/** `phc_`: project API key, public. `phx_`: personal API key, secret. `phs_`: project secret API key. */
export type KeyPrefix = 'phc_' | 'phx_' | 'phs_'

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const keyBytes = 32

/** Keys shorter than this, which only a setting can bring, are masked altogether. */
const maskableLength = 16

/** Makes a key that nobody has seen before. */
export function makeKey(prefix: KeyPrefix): string {
  return prefix + base62(randomBytes(keyBytes))
}

/** The number that `bytes` spell, most significant first, in base 62 without leading zeros. */
export function base62(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  do {
    text = digits[Number(rest % 62n)] + text
    rest /= 62n
  } while (rest > 0n)
  return text
}

/** What is stored of a personal API key. */
export function hashKey(key: string): string {
  return `sha256$${createHash('sha256').update(key).digest('hex')}`
}

/** What is shown of a personal API key once it has been made: at most 11 characters. */
export function maskKey(key: string): string {
  return key.length < maskableLength ? '********' : `${key.slice(0, 4)}...${key.slice(-4)}`
}
