// Records whose payload has a tag: in a frame, damaged at rest, and beside those of builds that knew no tags.

import { createCipheriv } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { DedupWindow } from '../../src/journal/dedup-window.ts'
import { FrameGroup, partBytesMax } from '../../src/journal/frame-group.ts'
import type { JournalPart, Position } from '../../src/journal/journal.ts'
import type { LaneOptions } from '../../src/journal/lane-options.ts'
import { checkFrame, readFrame } from '../../src/journal/record.ts'
import { encodeSegmentHeader } from '../../src/journal/segment.ts'
import { command, epoch, flaggedIn, openLane, part, readAll, run, textOf } from './lane-world.ts'
import { SimulatedDisk, seededRandom } from './simulated-disk.ts'

const salt = 0x01020304
const taggedBytesMin = 32 * 1024
const first = '/j/realtime/00000000000000000000.seg'
const options: Partial<LaneOptions> = { segmentBytes: 1_000_000, syncBytesMax: 100_000 }
const random = seededRandom(1)
/** Such as no two stretches of are alike. */
const text = Array.from({ length: 80_000 }, () => String.fromCharCode(33 + Math.floor(random() * 90))).join(
  '',
)

function gmac(payload: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12)).setAAD(payload)
  cipher.final()
  return cipher.getAuthTag()
}

function encode(one: JournalPart, position: number, window = new DedupWindow(100)): Uint8Array {
  const group = new FrameGroup()
  group.add(one, position, salt, false, window)
  return Uint8Array.from(Buffer.concat(group.buffers()))
}

function check(bytes: Uint8Array, position: number): number {
  return checkFrame(bytes, new DataView(bytes.buffer), 0, bytes.byteLength, position, salt)
}

/** A frame as builds wrote it that knew no tags: crc32 of everything. */
function plainFrame(payload: string, position: number): Buffer {
  const frame = Buffer.alloc(24 + Math.ceil(payload.length / 8) * 8)
  frame.writeUInt32LE(payload.length, 4)
  frame.writeUInt32LE(position, 8)
  frame.writeUInt8(1, 16)
  frame.write(payload, 24)
  frame.writeUInt32LE(crc32(frame.subarray(4, 24 + payload.length), salt), 0)
  return frame
}

t.test('lays a tagged frame out as documented', async (t) => {
  const window = new DedupWindow(100)
  window.seenOrAdd(7, 0)
  const long = part(text.slice(0, taggedBytesMin + 3), [5, 7])
  const bytes = Buffer.from(encode(long, 48, window))
  const header = `2b800000${'3000000000000000'}${'01'}${'0b'}${'0000'}${'02000000'}`
  const own = `${'0500000000000000'}${'0700000000000000'}${'0200000000000000'}${gmac(long.payload).toString('hex')}`
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32LE(crc32(Buffer.from(header + own, 'hex'), salt))
  t.equal(bytes.toString('hex', 0, 64), checksum.toString('hex') + header + own)
  t.equal(bytes.toString('hex', 64), `${Buffer.from(long.payload).toString('hex')}${'0000000000'}`)
  t.equal(bytes.byteLength, partBytesMax(long))
})

t.test('reads a tagged frame, and one as long that has none', async (t) => {
  for (const length of [taggedBytesMin - 1, taggedBytesMin, taggedBytesMin + 1, 80_000]) {
    const payload = text.slice(0, length)
    for (const bytes of [encode(part(payload), 48), Uint8Array.from(plainFrame(payload, 48))]) {
      t.equal(check(bytes, 48), bytes.byteLength)
      const frame = readFrame(bytes, new DataView(bytes.buffer), 0)
      if (frame.kind === 'seal') throw new Error('a record was expected')
      t.ok(textOf(frame) === payload, `${length} bytes`)
      t.equal(frame.payload.byteOffset % 8, 0)
      t.equal(frame.end, 48 + bytes.byteLength)
    }
  }
})

t.test('takes no tagged frame for valid that is elsewhere or changed anywhere', async (t) => {
  const bytes = encode(part(text.slice(0, taggedBytesMin), [5]), 48)
  t.equal(check(bytes, 48), 24 + 8 + 16 + taggedBytesMin)
  t.equal(check(bytes, 56), 0)
  t.equal(checkFrame(bytes, new DataView(bytes.buffer), 0, bytes.byteLength, 48, salt + 1), 0)
  const missed: number[] = []
  const ownBits = (24 + 8 + 16) * 8
  // Every bit of what is not the payload, and one in every byte of that.
  for (let bit = 0; bit < bytes.byteLength * 8; bit += bit < ownBits ? 1 : 9) {
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    if (check(bytes, 48) > 0) missed.push(bit)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
  }
  t.same(missed, [])
  // Sectors that were never written, or hold what belongs elsewhere.
  for (let sector = 512; sector + 1024 <= bytes.byteLength; sector += 512) {
    const zeros = bytes.slice().fill(0, sector, sector + 512)
    const moved = bytes.slice().copyWithin(sector, sector + 512, sector + 1024)
    if (check(zeros, 48) > 0 || check(moved, 48) > 0) missed.push(sector)
  }
  t.same(missed, [])
})

t.test('sets a long record aside when it is damaged, and cuts one that is the last', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, options)
  const texts = ['a', text.slice(0, 33_000), 'b', text.slice(0, 40_000)]
  for (const [id, one] of texts.entries()) {
    lane.append(id, [part(one, [id + 1])])
    run(lane)
  }
  disk.killProcess()
  const whole = disk.clone()
  t.same(readAll(whole, openLane(whole, options).lane).texts, texts)
  for (const [index, left] of [
    [1, ['a', 'b', texts[3]]],
    [3, ['a', texts[1], 'b']],
  ] as const) {
    const { position, end } = acks[index]!
    for (let at = position; at < end; at += at < position + 48 ? 1 : 2999) {
      const copy = disk.clone()
      copy.edit(first, (bytes) => {
        bytes[64 + at]! ^= 0x10
        return bytes
      })
      const back = readAll(copy, openLane(copy, options).lane, 1000)
      t.ok(JSON.stringify(back.texts) === JSON.stringify(left), `byte ${at - position} of record ${index}`)
      t.same(back.gaps, index === 1 ? [{ position, end }] : [])
    }
  }
})

t.test('cuts a long record that did not reach the disk whole', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, options)
  for (const [id, one] of ['a', text.slice(0, 33_000)].entries()) lane.append(id, [part(one)])
  run(lane)
  disk.killProcess()
  const { position, end } = acks[1]!
  for (let cut = position; cut < end; cut += cut < position + 48 ? 1 : 2999) {
    const copy = disk.clone()
    copy.edit(first, (bytes) => bytes.slice(0, 64 + cut))
    const { texts, gaps } = readAll(copy, openLane(copy, options).lane)
    t.same([texts, gaps], [['a'], []], `${cut - position} bytes`)
  }
})

t.test('knows the events and commands of long records again after a restart', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { ...options, dedupWindowEvents: 10_000 })
  const keys = Array.from({ length: 5000 }, (_, i) => i + 1) // keys of more than is copied
  lane.append(0, [part(text, keys)])
  lane.append(1, [part(text, [5001, 7])])
  lane.append(2, [command(text)])
  run(lane)
  lane.close()
  disk.unlink('/j/realtime/00000000000000000000.keys')
  const again = openLane(disk, { ...options, dedupWindowEvents: 10_000 })
  again.lane.append(0, [part(text.slice(0, 40_000), [6000, 5000, 5001])])
  run(again.lane)
  const { records } = readAll(disk, again.lane)
  t.same(
    records.map((record) => record.kind),
    ['events', 'events', 'command', 'events'],
  )
  t.same(records.map(flaggedIn), [[], [1], [], [1, 2]])
  t.ok(records.every((record) => textOf(record) === text.slice(0, record.payload.byteLength)))
})

for (const version of [1, 2])
  t.test(`reads and recovers segments of format version ${version}`, async (t) => {
    const payloads = ['a', text.slice(0, 40_000), 'b']
    let frames = Buffer.alloc(0)
    for (const payload of payloads) frames = Buffer.concat([frames, plainFrame(payload, frames.byteLength)])
    const header = Buffer.from(encodeSegmentHeader({ epoch, base: 0 as Position, salt, createdMs: 0 }))
    header.writeUInt16LE(version, 8)
    header.writeUInt32LE(crc32(header.subarray(0, 60)), 60)
    const seal = Buffer.alloc(24)
    seal.writeUInt32LE(frames.byteLength, 8)
    seal.writeUInt8(3, 16)
    seal.writeUInt32LE(crc32(seal.subarray(4), salt), 0)
    for (const rest of [seal, Buffer.alloc(0), Buffer.from('torn')]) {
      const disk = new SimulatedDisk()
      openLane(disk, options).lane.close()
      disk.close(disk.create(first))
      disk.edit(first, () => Uint8Array.from(Buffer.concat([header, frames, rest])))
      const { lane } = openLane(disk, options)
      lane.append(0, [part(text)])
      run(lane)
      const { texts, gaps } = readAll(disk, lane)
      t.ok(
        JSON.stringify(texts) === JSON.stringify([...payloads, text]),
        `a segment that ends in ${rest.byteLength} bytes`,
      )
      t.same(gaps, [])
      const versionNow = Buffer.from(disk.bytesOf(first)).readUInt16LE(8)
      t.equal(versionNow, rest === seal ? version : 3, 'what was copied is of the newest format')
    }
  })
