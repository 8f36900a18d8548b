import t from 'tap'
import {
  addressSlots,
  repeatInteger,
  slotTextBytesMax,
  stretchOf,
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

const nothing = { start: 0, end: 0, number: 0 }

/** A column of `values`, each followed by a separator. */
function columnOf(values: readonly (string | Buffer)[]) {
  const texts = values.map((value) => Buffer.from(value))
  const spans = new Uint32Array(values.length * 2)
  let at = 0
  for (const [index, { length }] of texts.entries()) {
    spans.set([at, at + length], index * 2)
    at += length + 1
  }
  return { bytes: Buffer.concat(texts.flatMap((text) => [text, Buffer.of(0x1e)])), spans, first: 0 }
}

t.test('writes short texts into their slots, over whatever was there', async (t) => {
  t.equal(slotTextBytesMax, 12)
  const words = new Uint32Array(4 * 6).fill(0xffffffff)
  const column = columnOf(['x', '', 'twelve bytes', 'ö', 'y'])
  t.equal(writeSlots(words, 1, column, 1, 4, nothing, nothing), true)
  const slots = Buffer.from(words.buffer)
  const slot = (row: number) => slots.subarray(row * 16, row * 16 + 16).toString('latin1')
  t.equal(slot(0), '\xff'.repeat(16))
  t.equal(slot(1), '\0'.repeat(16))
  t.equal(slot(2), '\x0c\0\0\0twelve bytes')
  t.equal(slot(3), `\x02\0\0\0\xc3\xb6${'\0'.repeat(10)}`)
  t.equal(slot(4), '\xff'.repeat(16))
})

t.test('writes where in the copies longer texts are', async (t) => {
  const column = columnOf(['thirteen byte', 'short', 'another thirteen', 'one more of them'])
  t.strictSame([...column.spans], [0, 13, 14, 19, 20, 36, 37, 53])
  const own = { start: 20, end: 53, number: 1 }
  const other = { start: 0, end: 13, number: 0 }
  const words = new Uint32Array(4 * 4).fill(0xffffffff)
  t.equal(writeSlots(words, 0, column, 0, 4, own, other), true)
  addressSlots(words, 3, [0x1_0000_0000, 0x7fff_1234_5678])
  const slots = Buffer.from(words.buffer)
  const lengths = [0, 1, 2, 3].map((row) => slots.readUInt32LE(row * 16))
  t.strictSame(lengths, [13, 5, 16, 16])
  const beginnings = [0, 2, 3].map((row) => slots.toString('latin1', row * 16 + 4, row * 16 + 8))
  t.strictSame(beginnings, ['thir', 'anot', 'one '])
  const addresses = [0, 2, 3].map((row) => slots.readBigUInt64LE(row * 16 + 8))
  t.strictSame(
    addresses,
    [0x1_0000_0000n, 0x7fff_1234_5678n, 0x1_0000_0011n],
    'the last is not addressed yet',
  )
})

t.test('tells when a text is not UTF-8, or a longer one is cut amid a character', async (t) => {
  const words = new Uint32Array(4)
  const isUtf8 = (
    bytes: Buffer,
    start: number,
    end: number,
    copy = { start: 0, end: bytes.length, number: 0 },
  ) => writeSlots(words, 0, { bytes, spans: Uint32Array.of(start, end), first: 0 }, 0, 1, copy, nothing)
  const long = Buffer.from('é, thirteen, é')
  t.equal(isUtf8(long, 0, 16), true)
  t.equal(isUtf8(long, 1, 16), false)
  t.equal(isUtf8(long, 0, 15), false)
  // What stands behind the copy is no text of it.
  t.equal(isUtf8(long, 0, 15, { start: 0, end: 15, number: 0 }), true)
  t.equal(isUtf8(long, 0, 2), true)
  t.equal(isUtf8(long, 0, 1), false)
  t.equal(isUtf8(long, 1, 4), false)
})

t.test('finds the stretch of longer texts that are not copied yet', async (t) => {
  const column = columnOf(['thirteen byte', 'short', 'another thirteen', 'one more of them', 'x'])
  t.strictSame(stretchOf(column, 0, 5, nothing), { start: 0, end: 53, bytes: 45 })
  t.strictSame(stretchOf(column, 1, 3, nothing), { start: 20, end: 36, bytes: 16 })
  t.strictSame(stretchOf(column, 0, 5, { start: 14, end: 53, number: 1 }), { start: 0, end: 13, bytes: 13 })
  t.strictSame(stretchOf(column, 4, 5, nothing), { start: 0, end: 0, bytes: 0 })
})
