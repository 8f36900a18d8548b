import t from 'tap'
import {
  repeatInteger,
  slotTextBytesMax,
  writeIds,
  writeIntegers,
  writeSlots,
} from '../../src/events/row-values.ts'

const integersOf = (words: Uint32Array) => [...new BigInt64Array(words.buffer)]

t.test('writes integers of every size', async (t) => {
  const words = new Uint32Array(2 * 14)
  writeIntegers(
    words,
    1,
    Float64Array.of(
      0,
      1,
      4_294_967_295,
      4_294_967_296,
      1_700_000_000_000_000,
      9_007_199_254_740_991,
      -1,
      -4_294_967_296,
      -4_294_967_297,
      -62_135_596_800_000_000,
      253_402_300_799_999_000,
    ),
  )
  repeatInteger(words, 12, -5, 2)
  t.strictSame(integersOf(words), [
    0n,
    0n,
    1n,
    4294967295n,
    4294967296n,
    1700000000000000n,
    9007199254740991n,
    -1n,
    -4294967296n,
    -4294967297n,
    -62135596800000000n,
    253402300799999008n,
    -5n,
    -5n,
  ])
})

t.test('writes ids as numbers whose highest bit is turned over', async (t) => {
  const words = new Uint32Array(12)
  const padded = Buffer.from('ffff00112233445566778899aabbccddeefffedcba98765432100123456789abcdef', 'hex')
  writeIds(words, 1, padded.subarray(2))
  t.strictSame(integersOf(words), [
    0n,
    0n,
    BigInt.asIntN(64, 0x8899aabbccddeeffn),
    BigInt.asIntN(64, 0x8011223344556677n),
    BigInt.asIntN(64, 0x0123456789abcdefn),
    BigInt.asIntN(64, 0x7edcba9876543210n),
  ])
})

t.test(
  'writes short texts into their slots, over whatever was there, and counts the longer ones',
  async (t) => {
    const values = ['x', '', 'twelve bytes', 'thirteen byte', 'ö', 'y']
    t.equal(slotTextBytesMax, 12)
    const bytes = Buffer.from(values.map((value) => `${value}\x1e`).join(''))
    const column = { bytes, spans: Uint32Array.of(0, 1, 2, 2, 3, 15, 16, 29, 30, 32, 33, 34) }
    const words = new Uint32Array(4 * 6).fill(0xffffffff)
    t.equal(writeSlots(words, 1, column, 1, 5), 1)
    const slots = Buffer.from(words.buffer)
    const slot = (row: number) => slots.subarray(row * 16, row * 16 + 16).toString('latin1')
    t.equal(slot(0), '\xff'.repeat(16))
    t.equal(slot(1), '\0'.repeat(16))
    t.equal(slot(2), '\x0c\0\0\0twelve bytes')
    t.equal(slot(3), '\0'.repeat(16))
    t.equal(slot(4), `\x02\0\0\0\xc3\xb6${'\0'.repeat(10)}`)
    t.equal(slot(5), '\xff'.repeat(16))
  },
)
