import t from 'tap'
import { hasSeen, nothingSeen, type Seen } from '../../src/identity/seen.ts'
import { Said, SeenPerson } from '../../src/identity/seen-person.ts'
import { uuidOf } from '../events/make-batch.ts'
import { capturedBatch } from './captured.ts'
import { MemoryStore } from './memory-store.ts'

const seen = (last: number, before = 0, earlier = 0): Seen => ({ last, before, earlier })

t.test('three digests answer for what is said, in any order, and no fourth', async (t) => {
  const said = new Said()
  t.equal(said.isSeen(nothingSeen), true, 'nothing is said')
  said.add(7, 0)
  said.add(7, 0)
  const once = [seen(7), seen(0, 7), seen(0, 0, 7), seen(8), nothingSeen]
  t.same(
    once.map((one) => said.isSeen(one)),
    [true, true, true, false, false],
  )
  said.add(9, 0)
  said.add(8, 0)
  const thrice = [seen(7, 8, 9), seen(9, 7, 8), seen(7, 9), seen(0, 8, 9)]
  t.same(
    thrice.map((one) => said.isSeen(one)),
    [true, true, false, false],
  )
  said.add(7, 0)
  t.equal(said.isSeen(seen(7, 8, 9)), true)
  said.add(11, 0)
  t.equal(said.isSeen(seen(7, 8, 9)), false)
})

t.test('what needs the row is not answered by digests', async (t) => {
  const said = new Said()
  said.addUntold(0)
  t.equal(said.isSeen(nothingSeen), false)
})

t.test('tells where it may first change the person', async (t) => {
  const said = new Said()
  t.equal(said.from, Number.POSITIVE_INFINITY)
  said.addUntold(5)
  said.add(7, 6)
  t.equal(said.from, 5)
})

t.test('a row that was not loaded cannot be read by mistake', async (t) => {
  const person = new SeenPerson(1, uuidOf(1), seen(7))
  t.same([person.projectId, person.uuid, person.seen], [1, uuidOf(1), seen(7)])
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

t.test(
  'pages go on repeating after a campaign has changed the person, and not after a removal',
  async (t) => {
    const store = new MemoryStore()
    const visit = (more: object) => ({
      event: '$pageview',
      distinct_id: 'a',
      properties: { $browser: 'Chrome', ...more },
    })
    const otherPage = capturedBatch([visit({ $browser: 'Safari' })])
    const digest = otherPage?.digests[0] ?? 0
    const sendAndSee = (more: object) =>
      store.send([visit(more)]).persons.map(({ seen }) => hasSeen(seen, digest))
    t.same(sendAndSee({}), [true])
    t.same(sendAndSee({ utm_source: 'x' }), [true])
    t.same(sendAndSee({ $unset: ['$browser'] }), [false])
    t.equal(store.send([visit({ $browser: 'Safari' })]).persons.length, 1)
    t.match(store.properties('a'), { $browser: 'Safari', utm_source: 'x' })
  },
)

t.test('a person that was born without what was too large for it has not seen that', async (t) => {
  const store = new MemoryStore()
  const visit = ($browser: string) => ({ event: '$pageview', distinct_id: 'a', properties: { $browser } })
  store.send([visit('x'.repeat(700_000))])
  t.notMatch(store.properties('a'), { $browser: String })
  store.send([visit('Chrome')])
  t.match(store.properties('a'), { $browser: 'Chrome', $initial_browser: 'Chrome' })
})
