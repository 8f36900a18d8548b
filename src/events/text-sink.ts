// A growing text column, filled byte by byte in hot loops. Every value is followed by one separator, as in an
// EventBatch; what DuckDB gets is everything but the last one.

import { separatorByte } from '../capture/event-batch.ts'

const sizeAtBirth = 64 * 1024

/** Plain data; the functions below advance it. `bytes` may be larger than what is used and is replaced as it grows. */
export interface TextSink {
  bytes: Buffer
  size: number
}

export function createTextSink(): TextSink {
  return { bytes: Buffer.allocUnsafeSlow(sizeAtBirth), size: 0 }
}

/** The values written so far, without the last separator; valid until the sink is written again. */
export function sinkText(sink: TextSink): Uint8Array {
  return sink.bytes.subarray(0, Math.max(0, sink.size - 1))
}

/** Makes room for `size` more bytes. */
export function reserve(sink: TextSink, size: number): void {
  const needed = sink.size + size
  if (needed <= sink.bytes.length) return
  const grown = Buffer.allocUnsafeSlow(Math.max(needed, sink.bytes.length * 2))
  sink.bytes.copy(grown, 0, 0, sink.size)
  sink.bytes = grown
}

/** Appends values that already carry their separators. */
export function writeBytes(sink: TextSink, bytes: Uint8Array): void {
  reserve(sink, bytes.length)
  sink.bytes.set(bytes, sink.size)
  sink.size += bytes.length
}

/** Appends one value `count` times. */
export function writeRepeated(sink: TextSink, value: number, count: number): void {
  const pattern = Buffer.from(`${value}\x1e`)
  const size = pattern.length * count
  reserve(sink, size)
  sink.bytes.fill(pattern, sink.size, sink.size + size)
  sink.size += size
}

/** Appends ids of 16 bytes each as 32 hexadecimal digits. */
export function writeIds(sink: TextSink, ids: Uint8Array): void {
  reserve(sink, (ids.length / 16) * 33)
  const { bytes } = sink
  let at = sink.size
  for (let start = 0; start < ids.length; start += 16) {
    for (let i = start; i < start + 16; i++) {
      const byte = ids[i]!
      bytes[at++] = hexDigits[byte >> 4]!
      bytes[at++] = hexDigits[byte & 15]!
    }
    bytes[at++] = separatorByte
  }
  sink.size = at
}

/** Bytes that `writeInteger` needs at most: a sign, 18 digits, a separator. */
export const integerSizeMax = 24

/** Appends an integer. Room must be reserved. */
export function writeInteger(sink: TextSink, value: number): void {
  const { bytes } = sink
  if (value < 0 || value > Number.MAX_SAFE_INTEGER) {
    // Years before 1970 and after 2255: rare, and beyond what the halves below can hold. Every digit of the value: the
    // shortest text of a number from 2^53 on may be that of another integer.
    sink.size += bytes.write(`${BigInt(value)}\x1e`, sink.size, 'latin1')
    return
  }
  const high = Math.floor(value / 1e8)
  let low = value - high * 1e8
  let at = sink.size
  if (high === 0) {
    at = writeDigits(bytes, at, low)
  } else {
    at = writeDigits(bytes, at, high) + 8
    for (let i = at - 1; i >= at - 8; i--) {
      const rest = Math.floor(low / 10)
      bytes[i] = 48 + low - rest * 10
      low = rest
    }
  }
  bytes[at++] = separatorByte
  sink.size = at
}

const hexDigits = Buffer.from('0123456789abcdef')

/** Writes the digits of an integer below 2^31 and returns where they end. */
function writeDigits(bytes: Buffer, at: number, value: number): number {
  let size = 1
  for (let power = 10; power <= value; power *= 10) size++
  let rest = value
  for (let i = at + size - 1; i >= at; i--) {
    const next = (rest / 10) | 0
    bytes[i] = 48 + rest - next * 10
    rest = next
  }
  return at + size
}
