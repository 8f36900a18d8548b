// Strict base64: the standard alphabet, padded, nothing else. Bodies are sniffed for it, so what merely resembles it
// must not decode.

import type { Bytes } from '../lib/bytes.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const equals = 0x3d
const space = 0x20
const plus = 0x2b

/** How many bytes at the start decide whether a text looks like base64. */
const sniffedBytes = 128

const inAlphabet = new Uint8Array(256)
for (let index = 0; index < alphabet.length; index++) inAlphabet[alphabet.charCodeAt(index)] = 1

/** Decodes `bytes` when they are strict base64 from the first byte to the last, else returns null. */
export function decodeBase64(bytes: Bytes): Bytes | null {
  const { length } = bytes
  if (length === 0 || length % 4 !== 0) return null
  let end = length
  if (bytes[end - 1] === equals) end--
  if (bytes[end - 1] === equals) end--
  for (let at = 0; at < end; at++) if (inAlphabet[bytes[at]!] === 0) return null
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1')
  const decoded = Buffer.from(text, 'base64')
  return new Uint8Array(decoded.buffer, decoded.byteOffset, decoded.byteLength)
}

/**
 * Turns the spaces of base64 text back into the `+` they were before a form or a query was decoded. Other text, such
 * as JSON, is left alone.
 */
export function restorePluses(bytes: Bytes): Bytes {
  const sniffed = Math.min(bytes.length, sniffedBytes)
  for (let at = 0; at < sniffed; at++) {
    const byte = bytes[at]!
    if (inAlphabet[byte] === 0 && byte !== space && byte !== equals) return bytes
  }
  if (!bytes.includes(space)) return bytes
  return bytes.map((byte) => (byte === space ? plus : byte))
}
