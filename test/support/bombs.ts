// Small bodies that unfold to large ones.

import { constants, deflateRawSync } from 'node:zlib'

const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * An lz64 text (lz-string, base64) of `codeCount` codes that unfolds to about codeCount² / 2 times the letter A: every
 * code stands for the word before it and one letter more, which is the worst the format can do.
 */
export function lz64Bomb(codeCount: number): string {
  let text = ''
  let symbol = 0
  let symbolBits = 0
  const write = (value: number, bits: number): void => {
    for (let bit = 0; bit < bits; bit++) {
      symbol = (symbol << 1) | ((value >> bit) & 1)
      if (++symbolBits < 6) continue
      text += base64Alphabet[symbol]
      symbol = 0
      symbolBits = 0
    }
  }
  write(0, 2) // a letter of 8 bits follows
  write('A'.charCodeAt(0), 8)
  let codeBits = 3
  let codesUntilWider = 4
  for (let code = 4; code < 4 + codeCount; code++) {
    write(code, codeBits)
    if (--codesUntilWider > 0) continue
    codesUntilWider = 1 << codeBits
    codeBits++
  }
  write(2, codeBits) // the end
  write(0, 6)
  return text
}

/** Gzip of `inflatedBytes` zeros, a thousandth of them in size. Its checksum is wrong: nobody should get that far. */
export function gzipBomb(inflatedBytes: number): Buffer {
  const chunk = Buffer.alloc(1024 * 1024)
  const piece = deflateRawSync(chunk, { finishFlush: constants.Z_FULL_FLUSH })
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
  const pieces = Array.from({ length: Math.ceil(inflatedBytes / chunk.length) }, () => piece)
  const end = Buffer.concat([deflateRawSync(Buffer.alloc(0)), Buffer.alloc(8)])
  return Buffer.concat([header, ...pieces, end])
}
