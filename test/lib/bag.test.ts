import t from 'tap'
import { Bag } from '../../src/lib/bag.ts'

const thing = (name: string) => ({ name, place: -1 })

function names(bag: Bag<{ name: string; place: number }>): string[] {
  const found: string[] = []
  bag.visit(({ name }) => found.push(name))
  return found.sort()
}

t.test('a bag has what was added and not deleted', async (t) => {
  const bag = new Bag<{ name: string; place: number }>()
  const [a, b, c] = [thing('a'), thing('b'), thing('c')] as const
  t.equal(bag.size, 0)
  for (const one of [a, b, c]) bag.add(one)
  t.same(names(bag), ['a', 'b', 'c'])
  bag.delete(a)
  t.same(names(bag), ['b', 'c'])
  bag.add(a)
  bag.delete(a)
  bag.delete(c)
  t.same([names(bag), bag.size], [['b'], 1])
  bag.delete(b)
  t.same([names(bag), bag.size], [[], 0])
})

t.test('each is visited once, though some are deleted when it is their turn', async (t) => {
  const things = ['a', 'b', 'c', 'd', 'e'].map(thing)
  for (const deleted of ['', 'a', 'e', 'ac', 'de', 'abcde']) {
    const bag = new Bag<{ name: string; place: number }>()
    for (const one of things) bag.add(one)
    const visited: string[] = []
    bag.visit((one) => {
      visited.push(one.name)
      if (deleted.includes(one.name)) bag.delete(one)
    })
    t.same(visited.sort(), ['a', 'b', 'c', 'd', 'e'], deleted)
    t.same(
      names(bag),
      ['a', 'b', 'c', 'd', 'e'].filter((name) => !deleted.includes(name)),
      deleted,
    )
  }
})

t.test('one may delete all others when it is its turn', async (t) => {
  const bag = new Bag<{ name: string; place: number }>()
  const things = ['a', 'b', 'c'].map(thing)
  for (const one of things) bag.add(one)
  const visited: string[] = []
  bag.visit(({ name }) => {
    visited.push(name)
    for (const one of things) bag.delete(one)
  })
  t.same([visited, bag.size], [['c'], 0])
})
