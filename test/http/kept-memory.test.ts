import t from 'tap'
import { KeptMemory } from '../../src/http/kept-memory.ts'

const MiB = 1024 * 1024

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('lends what was prepared, turn by turn, and takes it back', async (t) => {
  const kept = new KeptMemory(2 * MiB)
  t.equal(kept.lend(1), null, 'nobody asked for it before')
  kept.prepare()
  await turns(1)
  t.equal(kept.lend(1), null, 'it takes more than a turn')
  await turns(8)
  const memory = kept.lend(2 * MiB)
  t.equal(memory?.byteLength, 2 * MiB)
  const moved = structuredClone(memory!, { transfer: [memory!] })
  kept.giveBack(moved)
  t.throws(() => kept.giveBack(moved), /given back once/)
  t.equal(kept.lend(1), moved)
})

t.test('makes one more when there is none left, and not for those it is too small for', async (t) => {
  const kept = new KeptMemory(MiB)
  t.equal(kept.lend(MiB + 1), null)
  await turns(8)
  t.equal(kept.lend(MiB), null)
  await turns(8)
  const first = kept.lend(MiB)
  t.equal(kept.lend(MiB), null)
  await turns(8)
  const second = kept.lend(MiB)
  t.ok(first && second && first !== second)
})

t.test('lends none that is too small, and keeps none of another size', async (t) => {
  const kept = new KeptMemory(MiB)
  kept.giveBack(new ArrayBuffer(2 * MiB))
  t.equal(kept.lend(1), null)
  kept.giveBack(new ArrayBuffer(MiB))
  t.equal(kept.lend(MiB + 1), null)
  t.equal(kept.lend(MiB)?.byteLength, MiB)
})

t.test('of size 0 it keeps nothing', async (t) => {
  const kept = new KeptMemory(0)
  kept.prepare()
  await turns(3)
  t.equal(kept.lend(0), null)
})
