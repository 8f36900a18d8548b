// The bytes that JSON is made of.

export const quote = 0x22
export const backslash = 0x5c
export const comma = 0x2c
export const colon = 0x3a
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
export const closeBracket = 0x5d
export const minus = 0x2d
export const plus = 0x2b
export const dot = 0x2e
export const zero = 0x30
export const nine = 0x39
export const letterU = 0x75
/** What null begins with, and nothing else. */
export const letterN = 0x6e
export const letterT = 0x74
export const letterF = 0x66

/** Value of a hexadecimal digit, 255 for any other byte. */
export const hexDigits = new Uint8Array(256).fill(255)
for (let digit = 0; digit < 16; digit++) {
  hexDigits[digit.toString(16).charCodeAt(0)] = digit
  hexDigits[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** True when the text, which ends at `end`, ends where an escape would begin at `at`, or within that one. */
export function isCutEscape(bytes: Uint8Array, at: number, end: number): boolean {
  if (at >= end) return true
  return bytes[at] === backslash && (at + 1 >= end || (bytes[at + 1] === letterU && at + 6 > end))
}
