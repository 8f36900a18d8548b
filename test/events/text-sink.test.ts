import t from 'tap'
import {
  createTextSink,
  integerSizeMax,
  reserve,
  sinkText,
  writeBytes,
  writeIds,
  writeInteger,
  writeRepeated,
} from '../../src/events/text-sink.ts'

const values = (text: Uint8Array) => Buffer.from(text).toString().split('\x1e')

t.test('writes integers of every size', async (t) => {
  const integers = [
    0, 1, 9, 10, 99_999_999, 100_000_000, 100_000_001, 1_700_000_000_000_000, 4_294_967_296,
    214_748_364_700_000_000, 9_007_199_254_740_991, -1, -62_135_596_800_000_000, 253_402_300_799_999_000,
  ]
  const sink = createTextSink()
  reserve(sink, integers.length * integerSizeMax)
  for (const integer of integers) writeInteger(sink, integer)
  t.strictSame(values(sinkText(sink)), [
    '0',
    '1',
    '9',
    '10',
    '99999999',
    '100000000',
    '100000001',
    '1700000000000000',
    '4294967296',
    '214748364700000000',
    '9007199254740991',
    '-1',
    '-62135596800000000',
    '253402300799999008',
  ])
})

t.test('writes ids, repeated values and ready-made text, and grows as it must', async (t) => {
  const ids = createTextSink()
  writeIds(ids, Buffer.from('00112233445566778899aabbccddeefffedcba98765432100123456789abcdef', 'hex'))
  t.strictSame(values(sinkText(ids)), [
    '00112233445566778899aabbccddeeff',
    'fedcba98765432100123456789abcdef',
  ])

  const repeated = createTextSink()
  writeRepeated(repeated, 12_345, 3)
  writeRepeated(repeated, 7, 20_000)
  t.strictSame(values(sinkText(repeated)).slice(0, 4), ['12345', '12345', '12345', '7'])
  t.equal(sinkText(repeated).length, 3 * 6 + 20_000 * 2 - 1)

  const bytes = createTextSink()
  t.equal(sinkText(bytes).length, 0)
  writeBytes(bytes, Buffer.from('a\x1e\x1e'))
  writeBytes(bytes, Buffer.alloc(100_000, 'x'))
  t.strictSame(values(sinkText(bytes)), ['a', '', 'x'.repeat(99_999)])
})
