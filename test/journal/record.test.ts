import { crc32 } from 'node:zlib'
import t from 'tap'
import { DedupWindow } from '../../src/journal/dedup-window.ts'
import { FrameGroup, partBytesMax } from '../../src/journal/frame-group.ts'
import type { JournalPart } from '../../src/journal/journal.ts'
import {
  bodyBytesMax,
  checkFrame,
  checksumOn,
  encodeSeal,
  eventCountMax,
  groupOffsetMax,
  readFrame,
} from '../../src/journal/record.ts'
import { part } from './lane-world.ts'

const salt = 0x01020304
const position = 3 * 0x1_0000_0000 + 24

/** One frame as a group writes it. */
function encode(one: JournalPart, chainGoesOn = false, window = new DedupWindow(100)): Uint8Array {
  const group = new FrameGroup()
  group.add(one, position, salt, chainGoesOn, window)
  return Uint8Array.from(Buffer.concat(group.buffers()))
}

function check(bytes: Uint8Array, at = position, available = bytes.byteLength, withSalt = salt): number {
  return checkFrame(bytes, new DataView(bytes.buffer), 0, available, at, withSalt)
}

t.test('lays a frame out as documented', async (t) => {
  const window = new DedupWindow(100)
  window.seenOrAdd(7, 0)
  const bytes = encode(part('abc', [5, 7]), true, window)
  const body =
    '05000000000000000700000000000000' + // two keys
    '0200000000000000' + // the second event is a duplicate
    '616263'
  const header = `1b000000${'1800000003000000'}${'01'}${'07'}${'0000'}${'02000000'}`
  const checksum = crc32(Buffer.from(header + body, 'hex'), salt)
  const printed = Buffer.alloc(4)
  printed.writeUInt32LE(checksum)
  t.equal(Buffer.from(bytes).toString('hex'), `${printed.toString('hex')}${header}${body}${'0000000000'}`)
})

t.test('reads a recorded frame', async (t) => {
  const hex = '1b00000018000000030000000107000002000000050000000000000007000000000000000200000000000000616263'
  const covered = Buffer.from(hex, 'hex')
  const bytes = new Uint8Array(56)
  bytes.set(covered, 4)
  new DataView(bytes.buffer).setUint32(0, crc32(covered, salt), true)
  t.equal(check(bytes), 56)
  const frame = readFrame(bytes, new DataView(bytes.buffer), 0)
  t.match(frame, { position, end: position + 56, kind: 'events', eventCount: 2, chainGoesOn: true })
  if (frame.kind === 'seal') throw new Error('a record was expected')
  t.same([...(frame.dedupKeys ?? [])], [5, 0, 7, 0])
  t.same([...(frame.duplicates ?? [])], [2])
  t.equal(Buffer.from(frame.payload).toString(), 'abc')
  t.equal(frame.payload.byteOffset % 8, 0)
})

t.test('leaves keys out when no event has one, and bits when none is a duplicate', async (t) => {
  t.equal(encode(part('abcdefgh', [0, 0])).byteLength, 24 + 8)
  t.equal(encode(part('abcdefgh', [1, 0])).byteLength, 24 + 16 + 8)
  t.equal(partBytesMax(part('abcdefgh', [1, 0])), 24 + 16 + 8 + 8)
})

t.test('takes no frame for valid that is elsewhere, of another salt, or changed by a bit', async (t) => {
  const bytes = encode(part('abc', [5]))
  t.equal(check(bytes), 40)
  t.equal(check(bytes, position + 8), 0)
  t.equal(check(bytes, position, 40, salt + 1), 0)
  for (let bit = 0; bit < (24 + 8 + 3) * 8; bit++) {
    const copy = bytes.slice()
    copy[bit >> 3]! ^= 1 << (bit & 7)
    t.ok(check(copy) <= 0, `bit ${bit}`)
  }
})

t.test('asks for the missing bytes of a frame, but never for more than the largest one', async (t) => {
  const bytes = encode(part('abc', [5]))
  t.equal(check(bytes, position, 39), -40)
  t.equal(check(bytes, position, 23), 0)
  new DataView(bytes.buffer).setUint32(4, bodyBytesMax, true)
  t.equal(check(bytes), -(24 + bodyBytesMax))
  new DataView(bytes.buffer).setUint32(4, bodyBytesMax + 1, true)
  t.equal(check(bytes), 0)
})

t.test('says where its group begins, up to the longest group', async (t) => {
  const group = new FrameGroup()
  const payload = new Uint8Array(1_000_000)
  const add = (): void => {
    const one = { kind: 'events', payload, eventCount: eventCountMax, dedupKeys: null } as const
    group.add(one, position + group.bytes, salt, false, new DedupWindow(0))
  }
  while (group.bytes < groupOffsetMax) add()
  // Headers stand in memory of their own between the payloads.
  const headers = group.buffers().filter((bytes) => bytes.byteLength < payload.byteLength)
  t.ok(headers.length > 130)
  for (const bytes of headers) {
    const frame = readFrame(bytes, new DataView(bytes.buffer, bytes.byteOffset), 0)
    t.match(frame, { groupStart: position, eventCount: eventCountMax })
  }
  t.throws(add, /less than 128 MiB/)
})

t.test('encodes a seal as a frame without body', async (t) => {
  const seal = encodeSeal(position, salt)
  t.equal(check(seal), 24)
  t.same(readFrame(seal, new DataView(seal.buffer), 0), {
    kind: 'seal',
    position,
    end: position + 24,
    groupStart: position,
  })
})

t.test('goes on with a checksum over nothing', async (t) => {
  t.equal(checksumOn(new Uint8Array(0), 1234), 1234)
  t.equal(checksumOn(new TextEncoder().encode('123456789'), 0), 0xcbf43926)
})
