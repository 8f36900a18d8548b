// Numbers of up to 28 bits in as few bytes as they need: 7 bits a byte, lowest first, the eighth bit set where more
// follow.

import type { TextArena } from './text-arena.ts'

/** No number takes more. */
export const varintBytesMax = 4

/** Appends `value`; the room is reserved. */
export function putVarint(target: TextArena, value: number): void {
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) target.put(0x80 | (rest & 0x7f))
  target.put(rest)
}

/** Reads one number behind the other. */
export class VarintReader {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** Where the next number begins. */
  get at(): number {
    return this.#at
  }

  /** 0 where the bytes have ended, and never negative. */
  next(): number {
    let byte = this.#bytes[this.#at++]!
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = this.#bytes[this.#at++]!
      value |= (byte & 0x7f) << shift
    }
    return value >>> 0
  }
}
