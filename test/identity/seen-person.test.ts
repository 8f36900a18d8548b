import t from 'tap'
import { Said, SeenPerson } from '../../src/identity/seen-person.ts'
import { uuidOf } from '../events/make-batch.ts'
import { MemoryStore } from './memory-store.ts'

t.test('two digests answer for what is said, in either order, and no third', async (t) => {
  const said = new Said()
  t.equal(said.isSeen(0, 0), true, 'nothing is said')
  said.add(7)
  said.add(7)
  t.same(
    [said.isSeen(7, 0), said.isSeen(0, 7), said.isSeen(8, 0), said.isSeen(0, 0)],
    [true, true, false, false],
  )
  said.add(9)
  t.same(
    [said.isSeen(7, 9), said.isSeen(9, 7), said.isSeen(7, 0), said.isSeen(0, 9)],
    [true, true, false, false],
  )
  said.add(7)
  t.equal(said.isSeen(7, 9), true)
  said.add(11)
  t.equal(said.isSeen(7, 9), false)
})

t.test('what needs the row is not answered by digests', async (t) => {
  const said = new Said()
  said.needsRow = true
  t.equal(said.isSeen(0, 0), false)
})

t.test('a row that was not loaded cannot be read by mistake', async (t) => {
  const person = new SeenPerson(1, uuidOf(1), 7, 0)
  t.same([person.projectId, person.uuid, person.seenLast, person.seenBefore], [1, uuidOf(1), 7, 0])
  for (const field of ['properties', 'version', 'isIdentified', 'createdAtMicros'] as const)
    t.throws(() => person[field], { message: /was not loaded/ })
})

t.test(
  'a visitor who repeats himself is not read, and changes as soon as he says something else',
  async (t) => {
    const store = new MemoryStore()
    const visit = (plan: string) => ({ event: 'e', distinct_id: 'a', $set: { plan } })
    store.send([visit('free')])
    store.send([visit('free')])
    // The row of a person who has seen all that is said is not known to the fold here.
    t.same(store.send([visit('free'), { event: 'plain', distinct_id: 'a' }]).persons, [])
    t.equal(store.send([visit('free'), visit('paid')]).persons.length, 1)
    t.match(store.properties('a'), { plan: 'paid' })
    t.equal(
      store.send([visit('free')]).persons.length,
      1,
      'what was seen before the change says something again',
    )
    t.match(store.properties('a'), { plan: 'free' })
  },
)
