// What gzip puts around a deflated text (RFC 1952): ten bytes or more before it, its CRC-32 and its size behind it.

/** Of a head without name, comment or anything else that is not needed. */
export const plainHeadBytes = 10
export const trailerBytes = 8

/** True when `bytes` starts as a gzip member that uses deflate, the only method there is. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes.length >= 3 && bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08
}

/** True when `bytes` starts with a plain head, and there is room for a trailer. */
export function hasPlainHead(bytes: Uint8Array): boolean {
  return bytes.length >= plainHeadBytes + trailerBytes && isGzip(bytes) && bytes[3] === 0
}

/** What the trailer says the last member inflates to, of a body that has one. */
export function isizeOf(bytes: Uint8Array): number {
  return wordAt(bytes, bytes.length - 4)
}

/** The CRC that the trailer says. */
export function crcOf(bytes: Uint8Array): number {
  return wordAt(bytes, bytes.length - trailerBytes)
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! + bytes[at + 1]! * 2 ** 8 + bytes[at + 2]! * 2 ** 16 + bytes[at + 3]! * 2 ** 24
}
