// Deflated streams written bit by bit, sound ones and those that no compressor writes.

/** By symbol: the length of its code, 0 for none. */
export type Lengths = readonly number[]

/** A literal or the end of the block, or a length and distance, each as symbol and extra bits. */
export type Symbols = readonly [symbol: number, extra?: number, distance?: number, distanceExtra?: number]

export const blockEnd: Symbols = [256]

export const fixedLiterals: Lengths = Array.from({ length: 288 }, (_, symbol) =>
  symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8,
)
export const fixedDistances: Lengths = new Array(32).fill(5)

const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
/** Sixteen codes of four bits for the lengths 0 to 15. */
export const plainLengthCodes: Lengths = [...new Array(16).fill(4), 0, 0, 0]

export class DeflateWriter {
  readonly #bytes: number[] = []
  #held = 0
  #count = 0

  /** Lowest bit first. */
  bits(value: number, count: number): this {
    for (let bit = 0; bit < count; bit++) {
      this.#held |= ((value >> bit) & 1) << this.#count
      if (++this.#count === 8) this.align()
    }
    return this
  }

  align(): this {
    if (this.#count > 0) this.#bytes.push(this.#held)
    this.#held = 0
    this.#count = 0
    return this
  }

  stored(isLast: boolean, text: Uint8Array, size = text.length, inverse = ~size): this {
    this.bits(isLast ? 1 : 0, 3).align()
    this.bits(size, 16).bits(inverse, 16)
    this.#bytes.push(...text)
    return this
  }

  fixed(isLast: boolean, symbols: readonly Symbols[]): this {
    return this.bits(isLast ? 3 : 2, 3).#coded(fixedLiterals, fixedDistances, symbols)
  }

  dynamic(isLast: boolean, literals: Lengths, distances: Lengths, symbols: readonly Symbols[]): this {
    this.head(isLast, literals.length, distances.length, plainLengthCodes)
    for (const length of [...literals, ...distances]) this.symbol(plainLengthCodes, length)
    return this.#coded(literals, distances, symbols)
  }

  /** Begins a block with codes of its own. */
  head(isLast: boolean, literalCount: number, distanceCount: number, lengthCodes: Lengths): this {
    this.bits(isLast ? 5 : 4, 3)
      .bits(literalCount - 257, 5)
      .bits(distanceCount - 1, 5)
      .bits(15, 4)
    for (const symbol of lengthOrder) this.bits(lengthCodes[symbol]!, 3)
    return this
  }

  symbol(lengths: Lengths, symbol: number): this {
    const code = codesOf(lengths)[symbol]!
    for (let bit = lengths[symbol]! - 1; bit >= 0; bit--) this.bits(code >> bit, 1)
    return this
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.align().#bytes)
  }

  #coded(literals: Lengths, distances: Lengths, symbols: readonly Symbols[]): this {
    for (const [symbol, extra = 0, distance = -1, distanceExtra = 0] of symbols) {
      this.symbol(literals, symbol).bits(extra, lengthExtraBits(symbol))
      if (distance >= 0) this.symbol(distances, distance).bits(distanceExtra, distanceExtraBits(distance))
    }
    return this
  }
}

export function lengthExtraBits(symbol: number): number {
  return symbol < 265 || symbol > 284 ? 0 : (symbol - 261) >> 2
}

export function distanceExtraBits(symbol: number): number {
  return symbol < 4 || symbol > 29 ? 0 : (symbol - 2) >> 1
}

const known = new WeakMap<Lengths, number[]>()

/** Canonical codes, first bit highest (RFC 1951, 3.2.2). */
function codesOf(lengths: Lengths): number[] {
  const before = known.get(lengths)
  if (before !== undefined) return before
  const codes: number[] = []
  let code = 0
  for (let length = 1; length <= 15; length++, code <<= 1) {
    for (const [symbol, one] of lengths.entries()) if (one === length) codes[symbol] = code++
  }
  known.set(lengths, codes)
  return codes
}
