// The bits of a stream in memory, lowest first, in AssemblyScript. Up to 64 are held at a time, and 56 or more after
// each refill, which reads eight bytes wherever they stand, if need be behind the end: the layout has a margin for it.

import { bodyMargin } from '../src/capture/inflate-layout'

let held: u64 = 0
/** In its lowest six bits; what stands above them means nothing. */
let heldCount: u32 = 0
/** The next byte to hold all of. Bits of it may be held. */
let next: usize = 0
let end: usize = 0

export function openStream(start: usize, endOfStream: usize): void {
  hold(0, 0, start)
  end = endOfStream
}

/** Goes on with these bits, which end before the byte at `place`. */
export function hold(bits: u64, count: u32, place: usize): void {
  held = bits
  heldCount = count
  next = place
}

export function heldBits(): u64 {
  return held
}

export function heldBitCount(): u32 {
  return heldCount
}

export function nextByte(): usize {
  return next
}

export function streamEnd(): usize {
  return end
}

/** Whether bytes are held that stand so far behind the end that bits must have been taken which are not there. */
export function isOver(place: usize): bool {
  return place > end + bodyMargin / 4
}

/** Where the first byte stands of which no bit was taken. */
export function streamPlace(): usize {
  return next - ((heldCount & 63) >> 3)
}

export function refill(): void {
  hold(held | (load<u64>(next) << (<u64>heldCount)), heldCount | 56, next + roomBytes(heldCount))
}

/** How many bytes more there is room for beside `count` bits. */
export function roomBytes(count: u32): u32 {
  return ((count ^ 63) >> 3) & 7
}

/** Takes up to 31 bits that are held. */
export function takeBits(count: u32): u32 {
  const bits: u32 = <u32>held & ((1 << count) - 1)
  held >>= <u64>count
  heldCount -= count
  return bits
}
