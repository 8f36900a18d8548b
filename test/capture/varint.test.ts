import t from 'tap'
import { TextArena } from '../../src/capture/text-arena.ts'
import { putVarint, VarintReader, varintBytesMax } from '../../src/capture/varint.ts'

const cases: [number, number[]][] = [
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 1]],
  [16_383, [0xff, 0x7f]],
  [16_384, [0x80, 0x80, 1]],
  [2 ** 21, [0x80, 0x80, 0x80, 1]],
  [2 ** 28 - 1, [0xff, 0xff, 0xff, 0x7f]],
]

t.test('takes as many bytes as a number needs', async (t) => {
  for (const [value, bytes] of cases) {
    const target = new TextArena(varintBytesMax)
    putVarint(target, value)
    t.same([...target.bytes.subarray(0, target.size)], bytes)
    t.equal(new VarintReader(Uint8Array.from(bytes), 0).next(), value)
  }
})

t.test('reads one number behind the other', async (t) => {
  const reader = new VarintReader(Uint8Array.from([9, ...cases.flatMap(([, bytes]) => bytes)]), 1)
  t.same(
    cases.map(() => reader.next()),
    cases.map(([value]) => value),
  )
})
