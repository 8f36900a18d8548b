// Where things lie in the memory that inflating in WebAssembly shares with JavaScript (quick-inflate), in bytes. This
// file is compiled as TypeScript and as AssemblyScript: nothing but whole numbers.

/** Bits of a code that the first lookup takes at most; a second one takes the rest, for codes have up to 15. */
export const literalBitsMax = 11
export const distanceBitsMax = 9
/** Codes for lengths of codes have up to 7. */
export const lengthBitsMax = 7

/** Symbols of the three alphabets, those that mean nothing included. */
export const literalsMax = 288
export const distancesMax = 32
export const lengthsMax = 19

/** What each symbol means, i32 (code-table). */
export const literalMeaningsAt = 64
export const distanceMeaningsAt = literalMeaningsAt + literalsMax * 4
export const lengthMeaningsAt = distanceMeaningsAt + distancesMax * 4

/** While a table is made: how many codes have each length and where their symbols begin, i32, and all symbols, i16. */
export const countsAt = lengthMeaningsAt + lengthsMax * 4
export const placesAt = countsAt + 16 * 4
export const symbolsAt = placesAt + 16 * 4
/** By symbol, bytes: the length of its code. A run of lengths may go on behind them by 138. */
export const codeLengthsAt = symbolsAt + literalsMax * 2
const codeLengthsBytes = 512

/**
 * Tables, i32: first lookups and behind them second ones. At least two codes share a first lookup, so of 288 there are
 * no more than 144 that need a second, with 16 entries each; of 32 distances 16 with 64.
 */
export const literalTableAt = codeLengthsAt + codeLengthsBytes
export const distanceTableAt = literalTableAt + (2048 + 144 * 16) * 4
export const lengthTableAt = distanceTableAt + (512 + 16 * 64) * 4
/** Those of blocks with fixed codes. */
export const fixedLiteralTableAt = lengthTableAt + 128 * 4
export const fixedDistanceTableAt = fixedLiteralTableAt + 512 * 4

/** Where a text is shortened for its checksum, and what it is then (checksum). */
export const shorteningAt = fixedDistanceTableAt + 32 * 4
export const shortTextAt = shorteningAt + 1200 * 16

export const bodyAt = shortTextAt + 301 * 16

/** Bits are read eight bytes at a time, a few times behind the end. */
export const bodyMargin = 64
/** A match, three literals and what a copy of 16 bytes writes too much. */
export const textMargin = 384

/** Raised when something that lies where it did means something else. */
const revision = 1

/** Tells builds apart that do not understand each other. */
export const inflateLayoutNumber = bodyAt * 16 + revision
