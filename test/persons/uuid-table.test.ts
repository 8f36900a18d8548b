import { createHash } from 'node:crypto'
import t from 'tap'
import { UuidTable } from '../../src/persons/uuid-table.ts'

/** Spread as hashes are. */
function keyOf(n: number): Uint32Array {
  const digest = createHash('sha1').update(`key ${n}`).digest()
  return Uint32Array.from([0, 4, 8, 12], (at) => digest.readUInt32LE(at))
}

const valueAt = (n: number): Uint32Array => Uint32Array.from([n, n + 1, 0xffff_ffff, 0])

function read(table: UuidTable, n: number): number[] | null {
  const value = new Uint32Array(4)
  return table.get(keyOf(n), value) ? [...value] : null
}

t.test('keeps what it was told last, while there is room for all of it', async (t) => {
  const table = new UuidTable(1024 * 1024)
  for (let n = 0; n < 10_000; n++) table.set(keyOf(n), valueAt(n))
  for (let n = 0; n < 10_000; n += 2) table.set(keyOf(n), valueAt(n + 7))
  for (let n = 1; n < 10_000; n += 4) table.forget(keyOf(n))
  for (let n = 0; n < 10_000; n++) {
    const expected = n % 2 === 0 ? [...valueAt(n + 7)] : n % 4 === 1 ? null : [...valueAt(n)]
    t.strictSame(read(table, n), expected)
  }
  t.equal(read(table, 10_000), null)
  table.clear()
  t.equal(read(table, 0), null)
})

t.test('forgets what was not asked for when it is full, and never shows anything older', async (t) => {
  // 512 slots a generation.
  const table = new UuidTable(32 * 1024)
  const latest = new Map<number, number>()
  let known = 0
  for (let round = 0; round < 20_000; round++) {
    const n = (round * 7919) % 3001
    if (round % 5 === 0) {
      table.forget(keyOf(n))
      latest.delete(n)
    } else {
      table.set(keyOf(n), valueAt(round))
      latest.set(n, round)
    }
    const asked = (round * 104_729) % 3001
    const found = read(table, asked)
    const value = latest.get(asked)
    if (found !== null) known++
    if (found !== null && (value === undefined || found[0] !== value)) t.fail(`round ${round} shows ${found}`)
  }
  t.ok(known > 1000, `${known} of 20,000 were known`)
  t.equal(read(table, -1), null)
})

t.test('what is asked for again and again stays', async (t) => {
  const table = new UuidTable(2048)
  table.set(keyOf(-1), valueAt(1))
  for (let n = 0; n < 5000; n++) {
    table.set(keyOf(n), valueAt(n))
    t.ok(read(table, -1))
  }
})
