import { crc32 } from 'node:zlib'
import t from 'tap'
import type { Position } from '../../src/journal/journal.ts'
import {
  basesOf,
  encodeSegmentHeader,
  newSegmentHeader,
  parseSegmentHeader,
  segmentPath,
} from '../../src/journal/segment.ts'
import { epoch } from './lane-world.ts'

const recorded =
  '53504154454a4e4c' + // SPATEJNL
  '03004000' + // version 3, 64 bytes
  '00000000' +
  '0190c3a26b1e7c3d8e4f5a6b7c8d9e0f' +
  '0800000001000000' + // base 2^32 + 8
  'efbeadde' + // salt
  '00000000' +
  '000000d37f077942' + // created, a double
  '00000000'
const header = { epoch, base: 4294967304 as Position, salt: 0xdeadbeef, createdMs: 1_720_000_000_000 }

t.test('lays the header out as documented', async (t) => {
  const bytes = Buffer.from(encodeSegmentHeader(header))
  t.equal(bytes.byteLength, 64)
  t.equal(bytes.toString('hex', 0, 60), recorded)
  t.equal(bytes.readUInt32LE(60), crc32(Buffer.from(recorded, 'hex')))
})

t.test('reads a recorded header, and none that a bit was changed in', async (t) => {
  const bytes = new Uint8Array(64)
  bytes.set(Buffer.from(recorded, 'hex'))
  new DataView(bytes.buffer).setUint32(60, crc32(bytes.subarray(0, 60)), true)
  t.same(parseSegmentHeader(bytes), header)
  for (let bit = 0; bit < 512; bit++) {
    const copy = bytes.slice()
    copy[bit >> 3]! ^= 1 << (bit & 7)
    t.equal(parseSegmentHeader(copy), null, `bit ${bit}`)
  }
  t.equal(parseSegmentHeader(bytes.subarray(0, 63)), null)
})

t.test('salts every segment anew', async (t) => {
  const salts = new Set(Array.from({ length: 20 }, () => newSegmentHeader(epoch, 0 as Position, 0).salt))
  t.ok(salts.size > 15)
})

t.test('names files by their base position, and finds them again in order', async (t) => {
  t.equal(segmentPath('/j', 1234), '/j/00000000000000001234.seg')
  const names = [
    '00000000000000001234.seg',
    '00000000000000000008.seg',
    '00000000000000000008.keys',
    '8.seg',
    'epoch',
  ]
  t.same(basesOf([...names, '00000000000000001234.seg.tmp'], 'seg'), [8, 1234])
  t.same(basesOf(names, 'keys'), [8])
})
