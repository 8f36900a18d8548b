import t from 'tap'
import { Numbered } from '../../src/lib/numbered.ts'

t.test('what was added is taken once, by its number', async (t) => {
  const all = new Numbered<{ name: string }>()
  t.equal(all.add({ name: 'a' }), 0)
  t.equal(all.add({ name: 'b' }), 1)
  t.equal(all.size, 2)
  t.same(all.take(1), { name: 'b' })
  t.equal(all.take(1), undefined)
  t.equal(all.take(2), undefined, 'never added')
  t.equal(all.add({ name: 'c' }), 2)
  t.same(all.takeAll(), [{ name: 'a' }, { name: 'c' }])
  t.same([all.size, all.takeAll(), all.take(0)], [0, [], undefined])
  t.equal(all.add({ name: 'd' }), 3, 'numbers are not given twice')
})

t.test('as many as there are find room, in any order', async (t) => {
  const all = new Numbered<{ number: number }>()
  const oracle = new Map<number, { number: number }>()
  let seed = 1
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 8) % below
  }
  for (let number = 0; number < 20_000; number++) {
    const thing = { number }
    if (all.add(thing) !== number) t.fail(`${number}`)
    oracle.set(number, thing)
    // Up to 1,500 are there at once, of which one may stay behind for long.
    for (let times = random(number % 4000 < 1500 ? 2 : 4); times > 0; times--) {
      const taken = Math.max(0, number - random(1500))
      if (taken % 997 === 0) continue
      if (all.take(taken) !== oracle.get(taken)) t.fail(`${taken}`)
      oracle.delete(taken)
    }
  }
  t.equal(all.size, oracle.size)
  t.same(
    all.takeAll().map(({ number }) => number),
    [...oracle.keys()],
  )
})
