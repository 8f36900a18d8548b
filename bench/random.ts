// Seeded random numbers: sfc32, a small generator that passes PractRand. A benchmark's corpus, load and kill times
// come from here alone, so that a run is repeated by repeating its seed.

export interface Random {
  /** A float in [0, 1). */
  next(): number
  /** An integer in [0, limit). */
  below(limit: number): number
  /** A float in [min, max). */
  between(min: number, max: number): number
  pick<T>(list: readonly T[]): T
  /** `length` characters of 0-9a-z. */
  text(length: number): string
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz'

/** A stream of numbers of its own for every list of `seeds`: (seed, request number) gives each request its own. */
export function createRandom(...seeds: number[]): Random {
  let a = 0x9e3779b9
  let b = 0x243f6a88
  let c = 0xb7e15162
  let counter = 1
  const nextWord = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (const seed of seeds) {
    a ^= seed | 0
    b ^= Math.floor(seed / 2 ** 32) | 0
    // Twelve rounds carry every bit of the seed into every word of the state.
    for (let round = 0; round < 12; round++) nextWord()
  }
  const next = (): number => nextWord() / 2 ** 32
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    between: (min, max) => min + next() * (max - min),
    pick: (list) => list[below(list.length)]!,
    text: (length) => {
      let text = ''
      while (text.length < length) text += alphabet[below(alphabet.length)]
      return text
    },
  }
}
