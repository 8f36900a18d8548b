// Decodes the base64 form of lz-string (`compressToBase64`), which old browser SDKs send as lz64.
//
// The format is LZ78 over UTF-16 units. Base64 digits carry a stream of bits; a number is sent lowest bit first. Codes
// 0 and 1 announce a new unit of 8 or 16 bits, 2 ends the stream, the others name dictionary entries. Each code adds
// the previous entry plus the first unit of the present one to the dictionary, a new unit adds itself before that; a
// code is as wide as the dictionary's size needs.
//
// Entries are kept as (start, length) in the output instead of as strings: what a code adds has just been written in
// one piece, so nothing is ever copied to build the dictionary, and memory grows with the input alone. The output is
// UTF-8, one unit at a time. The halves of a surrogate pair may come from different entries, so they are written as
// three bytes each and joined at the end, only in bodies that hold any.

import type { Bytes } from '../lib/bytes.ts'
import { inflatesTooLarge, type Payload, payload, undecodable } from './payload.ts'

const codeUnit8 = 0
const codeUnit16 = 1
const codeEnd = 2
/** Codes below are not dictionary entries. */
const codesReserved = 3

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const equals = 0x3d

/** The six bits of each base64 digit in the order in which they are read; negative for any other byte. */
const digitBits = new Int32Array(256).fill(-1)
for (let digit = 0; digit < 64; digit++) {
  let reversed = 0
  for (let bit = 0; bit < 6; bit++) if (digit & (1 << bit)) reversed |= 32 >> bit
  digitBits[alphabet.charCodeAt(digit)] = reversed
}

/** A UTF-16 unit takes at most this many bytes. */
const unitBytesMax = 3
/** First byte of every surrogate half, and of U+D000 to U+D7FF, whose second byte is below 0xA0. */
const surrogateLead = 0xed

type Entries = Int32Array<ArrayBuffer>

interface Dictionary {
  /** Where in the output each entry was written first. */
  readonly starts: Entries
  readonly lengths: Entries
}

/** A dictionary of up to this many entries is used again for the next body. */
const entriesKeptMax = 1 << 16
let keptDictionary: Dictionary = { starts: new Int32Array(1 << 12), lengths: new Int32Array(1 << 12) }

/** From here on copyWithin beats a loop (measured, Node 20). */
const copiedBytesMin = 48
/**
 * Shorter entries are copied so many bytes at a time: what is written beyond an entry is written over by the next. A
 * loop over bytes, whose end no processor foresees, took 274 µs for 20 events in place of 159, and 24 for one in place
 * of 20 (A/B 0.59 and 0.83, 15 turns on a busy machine, Node 20.20).
 */
const strideBytes = 8

/**
 * Decodes `input` to at most `outputBytesMax` bytes of UTF-8; a lone surrogate becomes U+FFFD.
 * Refusals: payload_undecodable for anything lz-string would not have written, body_too_large at the limit.
 * Cost: see `strideBytes`; `bench stages` sets it beside lz-string.
 */
export function decodeLz64(input: Bytes, outputBytesMax: number): Payload {
  const bits = readDigits(input)
  if (bits === null) return undecodable('invalid lz64 data: not base64')
  return unfold(bits.words, bits.count, outputBytesMax)
}

/** Lays the bits of all digits in a row, first bit lowest, with three spare words so that no read needs a check. */
function readDigits(input: Bytes): { words: Uint32Array; count: number } | null {
  let digits = input.length
  while (digits > 0 && input[digits - 1] === equals) digits--
  const words = new Uint32Array(((digits * 6) >>> 5) + 4)
  const whole = digits & ~15
  let faults = 0
  let size = 0
  // Sixteen digits make three words.
  for (let at = 0; at < whole; at += 16) {
    const a = fourDigits(input, at)
    const b = fourDigits(input, at + 4)
    const c = fourDigits(input, at + 8)
    const d = fourDigits(input, at + 12)
    faults |= a | b | c | d
    words[size++] = a | (b << 24)
    words[size++] = (b >>> 8) | (c << 16)
    words[size++] = (c >>> 16) | (d << 8)
  }
  for (let at = whole; at < digits; at++) {
    const bits = digitBits[input[at]!]!
    const bit = at * 6
    const shift = bit & 31
    faults |= bits
    words[bit >>> 5]! |= bits << shift
    if (shift > 26) words[(bit >>> 5) + 1] = bits >>> (32 - shift)
  }
  return faults < 0 ? null : { words, count: digits * 6 }
}

function fourDigits(input: Bytes, at: number): number {
  return (
    digitBits[input[at]!]! |
    (digitBits[input[at + 1]!]! << 6) |
    (digitBits[input[at + 2]!]! << 12) |
    (digitBits[input[at + 3]!]! << 18)
  )
}

/** `width` bits (at most 32) from bit `at`. */
function bitsAt(words: Uint32Array, at: number, width: number): number {
  const index = at >>> 5
  const shift = at & 31
  // Shifted in two steps: a shift by 32 would be one by 0.
  const value = (words[index]! >>> shift) | ((words[index + 1]! << 1) << (31 - shift))
  return value & (-1 >>> (32 - width))
}

function unfold(words: Uint32Array, bitCount: number, outputBytesMax: number): Payload {
  let { starts, lengths } = keptDictionary
  let output = new Uint8Array(Math.min(Math.max(bitCount, 256), outputBytesMax) + strideBytes)
  let view = new DataView(output.buffer)
  let written = 0
  // Joining makes four bytes of six: a body with surrogates may go over the limit until then.
  let writtenMax = outputBytesMax
  let hasSurrogates = false
  let size = codesReserved
  let width = 2
  let previousStart = 0
  let previousLength = 0
  let bit = 0
  for (;;) {
    const code = bitsAt(words, bit, width)
    bit += width
    if (bit > bitCount) return undecodable('invalid lz64 data: it ends too early')
    if (size + 2 > starts.length) ({ starts, lengths } = growDictionary(starts, lengths))
    let length: number
    if (code <= codeUnit16) {
      const unitBits = code === codeUnit8 ? 8 : 16
      const unit = bitsAt(words, bit, unitBits)
      bit += unitBits
      if (!hasSurrogates && (unit & 0xf800) === 0xd800) {
        hasSurrogates = true
        writtenMax = Math.floor(outputBytesMax * 1.5)
      }
      if (written + strideBytes > output.length) {
        output = growOutput(output, unitBytesMax, writtenMax)
        view = new DataView(output.buffer)
      }
      length = writeUnit(output, written, unit)
      if (written + length > writtenMax) return inflatesTooLarge(outputBytesMax)
      starts[size] = written
      lengths[size++] = length
      if (size === 1 << width) width++
      if (previousLength > 0) {
        starts[size] = previousStart
        lengths[size++] = previousLength + length
      }
    } else {
      if (code === codeEnd) {
        // The writer fills up the last digit, with a whole one when there is nothing to fill.
        if (bitCount - bit > 6) return undecodable('invalid lz64 data: it goes on after its end')
        return finish(output, hasSurrogates ? joinSurrogates(output, written) : written, outputBytesMax)
      }
      // The newest entry may be named before its last unit is known: that unit is then its own first.
      if (code > size || previousLength === 0) return undecodable('invalid lz64 data: unknown code')
      const lead = output[code === size ? previousStart : starts[code]!]!
      starts[size] = previousStart
      lengths[size++] = previousLength + unitBytes(lead)
      const start = starts[code]!
      length = lengths[code]!
      if (written + length > writtenMax) return inflatesTooLarge(outputBytesMax)
      if (written + length + strideBytes > output.length) {
        output = growOutput(output, length, writtenMax)
        view = new DataView(output.buffer)
      }
      // The newest entry runs into what is being written.
      if (length >= copiedBytesMin || code + 1 === size) copyForwards(output, start, length, written)
      else copyStrides(view, start, length, written)
    }
    if (size === 1 << width) width++
    previousStart = written
    previousLength = length
    written += length
  }
}

function finish(output: Bytes, size: number, outputBytesMax: number): Payload {
  return size > outputBytesMax ? inflatesTooLarge(outputBytesMax) : payload(output.subarray(0, size))
}

function growDictionary(starts: Entries, lengths: Entries): Dictionary {
  const size = starts.length * 2
  const grown = { starts: new Int32Array(size), lengths: new Int32Array(size) }
  grown.starts.set(starts)
  grown.lengths.set(lengths)
  if (size <= entriesKeptMax) keptDictionary = grown
  return grown
}

function growOutput(output: Bytes, bytesNeeded: number, writtenMax: number): Bytes {
  const grown = new Uint8Array(Math.min(output.length * 2 + bytesNeeded, writtenMax) + strideBytes)
  grown.set(output)
  return grown
}

/** Writes one UTF-16 unit in one to three bytes and returns how many. */
function writeUnit(output: Bytes, at: number, unit: number): number {
  if (unit < 0x80) {
    output[at] = unit
    return 1
  }
  if (unit < 0x800) {
    output[at] = 0xc0 | (unit >> 6)
    output[at + 1] = 0x80 | (unit & 0x3f)
    return 2
  }
  output[at] = 0xe0 | (unit >> 12)
  output[at + 1] = 0x80 | ((unit >> 6) & 0x3f)
  output[at + 2] = 0x80 | (unit & 0x3f)
  return 3
}

/** How many bytes the unit that starts with `lead` takes. */
function unitBytes(lead: number): number {
  if (lead < 0x80) return 1
  return lead < 0xe0 ? 2 : 3
}

/** Copies a short entry, and writes up to the end of its last stride. */
function copyStrides(output: DataView, start: number, length: number, to: number): void {
  for (let done = 0; done < length; done += strideBytes) {
    output.setUint32(to + done, output.getUint32(start + done))
    output.setUint32(to + done + 4, output.getUint32(start + done + 4))
  }
}

/** Copies forwards. The source may run into the target by one unit, which is then the source's own first. */
function copyForwards(output: Bytes, start: number, length: number, to: number): void {
  const apart = length < copiedBytesMin ? 0 : Math.min(length, to - start)
  if (apart > 0) output.copyWithin(to, start, start + apart)
  for (let done = apart; done < length; done++) output[to + done] = output[start + done]!
}

/** Joins surrogate pairs of three bytes a half into four bytes, replaces lone halves, returns the new length. */
function joinSurrogates(bytes: Bytes, length: number): number {
  let to = bytes.indexOf(surrogateLead)
  let from = to
  while (from < length) {
    const byte = bytes[from]!
    if (byte !== surrogateLead || bytes[from + 1]! < 0xa0) {
      bytes[to++] = byte
      from++
      continue
    }
    const next = from + 3
    const isHigh = bytes[from + 1]! < 0xb0
    const isPair = isHigh && next < length && bytes[next] === surrogateLead && bytes[next + 1]! >= 0xb0
    if (isPair) {
      const high = ((bytes[from + 1]! & 0x0f) << 6) | (bytes[from + 2]! & 0x3f)
      const low = ((bytes[next + 1]! & 0x0f) << 6) | (bytes[next + 2]! & 0x3f)
      const codePoint = 0x10000 + (high << 10) + low
      bytes[to++] = 0xf0 | (codePoint >> 18)
      bytes[to++] = 0x80 | ((codePoint >> 12) & 0x3f)
      bytes[to++] = 0x80 | ((codePoint >> 6) & 0x3f)
      bytes[to++] = 0x80 | (codePoint & 0x3f)
      from += 6
    } else {
      bytes[to++] = 0xef
      bytes[to++] = 0xbf
      bytes[to++] = 0xbd
      from += 3
    }
  }
  return to
}
