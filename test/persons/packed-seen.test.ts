import t from 'tap'
import { digestBits } from '../../src/capture/person-digest.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import { hasPacked, packSeen, printSeen, unpackSeen } from '../../src/persons/packed-seen.ts'

const most = 2 ** digestBits - 1
const examples = [
  nothingSeen,
  { last: 1, before: 0, earlier: 0 },
  { last: 2 ** 32, before: 2 ** 32 - 1, earlier: 3 },
  { last: most, before: most - 1, earlier: most - 2 },
  { last: 0x2aa_5555_aaaa, before: 0x155_aaaa_5555, earlier: 0x3ff_0000_0001 },
]

t.test('gives back what was packed', async (t) => {
  for (const seen of examples) {
    const value = new Uint32Array(4)
    packSeen(seen, value)
    t.same(unpackSeen(value), seen)
  }
})

t.test('finds each packed digest, and none that shares only one of its words', async (t) => {
  const value = new Uint32Array(4)
  packSeen({ last: 2 ** 32 + 5, before: 2 ** 33 + 6, earlier: 7 }, value)
  for (const digest of [2 ** 32 + 5, 2 ** 33 + 6, 7]) t.ok(hasPacked(value, digest))
  for (const digest of [5, 6, 2 ** 32 + 7, 2 ** 33 + 5, 2 ** 32 + 6]) t.notOk(hasPacked(value, digest))
})

t.test('is a uuid in a row, and null for nothing', async (t) => {
  t.equal(printSeen(nothingSeen), null)
  t.equal(printSeen({ last: 0x3_1234_5678, before: 9, earlier: 0 }), '78563412-0900-0000-0000-000003000000')
})
