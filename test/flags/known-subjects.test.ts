import t from 'tap'
import { KnownSubjects } from '../../src/flags/known-subjects.ts'
import { distinctIdHash, groupHash, personHash } from '../../src/persons/touched.ts'

const ada = '00000000-0000-5000-8000-00000000000a'
const properties = { plan: 'pro' }
const read = { properties, bytes: 14 }

function opened(bytesMax?: number) {
  const clock = { ms: 0 }
  const known = new KnownSubjects({ nowMs: () => clock.ms, monotonicMs: () => clock.ms }, bytesMax)
  const person = (projectId: number, id: string) => known.person(projectId, id)?.properties ?? null
  const group = (...of: [number, number, string]) => known.group(...of)?.properties ?? null
  const keep = (): void => known.keepPerson(1, 'ada', ada, read, known.moment)
  return { known, clock, keep, person, group }
}

const touch = (...hashes: number[]): Uint32Array => new Uint32Array(hashes)

t.test('knows who was read, by project and id', async (t) => {
  const { known, keep, person, group } = opened()
  t.equal(person(1, 'ada'), null)
  keep()
  t.equal(person(1, 'ada'), properties)
  t.equal(person(2, 'ada'), null)
  t.equal(person(1, 'bob'), null)
  known.keepGroup(1, 0, 'ada', { properties: { size: 1 }, bytes: 10 }, known.moment)
  t.same(group(1, 0, 'ada'), { size: 1 })
  t.equal(group(1, 1, 'ada'), null)
  t.equal(person(1, 'ada'), properties)
})

t.test('forgets what a transaction touches: the person, the id, the group', async (t) => {
  const { known, keep, person, group } = opened()
  for (const hash of [personHash(1, ada), distinctIdHash(1, 'ada')]) {
    keep()
    known.touched(touch(personHash(2, ada), distinctIdHash(1, 'bob')))
    t.equal(person(1, 'ada'), properties)
    known.touched(touch(hash))
    t.equal(person(1, 'ada'), null)
  }
  known.keepPerson(1, 'new', null, { properties: {}, bytes: 2 }, known.moment)
  t.same(person(1, 'new'), {})
  known.touched(touch(distinctIdHash(1, 'new')))
  t.equal(person(1, 'new'), null, 'nobody has become somebody')
  known.keepGroup(1, 2, 'acme', read, known.moment)
  known.touched(touch(groupHash(1, 2, 'acme')))
  t.equal(group(1, 2, 'acme'), null)
})

t.test('does not keep what was read while it was being changed', async (t) => {
  const { known, person } = opened()
  const { moment } = known
  known.touched(touch(personHash(1, ada)))
  known.keepPerson(1, 'ada', ada, read, moment)
  t.equal(person(1, 'ada'), null)
  known.keepPerson(1, 'bob', null, read, moment)
  t.equal(person(1, 'bob'), properties, 'of others it is good')
  known.touched(null)
  known.keepPerson(1, 'bob', null, read, moment)
  t.equal(person(1, 'bob'), null, 'anything may have changed')
})

t.test('an older read that arrives late does not stand for a newer one', async (t) => {
  const { known, keep, person } = opened()
  const { moment } = known
  known.touched(touch(personHash(1, ada)))
  keep()
  known.keepPerson(1, 'ada', ada, { properties: { plan: 'old' }, bytes: 14 }, moment)
  t.equal(person(1, 'ada'), properties)
})

t.test('knows it for a minute', async (t) => {
  const { clock, keep, person } = opened()
  keep()
  clock.ms = 59_999
  t.equal(person(1, 'ada'), properties)
  clock.ms = 60_000
  t.equal(person(1, 'ada'), null)
})

t.test(
  'says that a copy is due in its second half minute, about once a second until it is read again',
  async (t) => {
    const { known, clock, keep } = opened()
    const isDue = (id: string): boolean | undefined => known.person(1, id)?.isDue
    keep()
    t.equal(isDue('ada'), false)
    clock.ms = 19_999
    t.equal(isDue('ada'), false)
    clock.ms = 30_000
    t.equal(isDue('ada'), true)
    t.equal(isDue('ada'), false, 'somebody is at it')
    clock.ms = 30_999
    t.equal(isDue('ada'), false)
    clock.ms = 31_000
    t.equal(isDue('ada'), true, 'that came to nothing')
    keep()
    clock.ms = 50_999
    t.equal(isDue('ada'), false)
    clock.ms = 61_000
    t.equal(isDue('ada'), true)
  },
)

t.test('of those who were read together half are due when half of the time has passed', async (t) => {
  const { known, clock } = opened()
  const ids = Array.from({ length: 1000 }, (_, index) => `id-${index}`)
  for (const id of ids) known.keepPerson(1, id, null, read, known.moment)
  clock.ms = 25_000
  const count = ids.filter((id) => known.person(1, id)?.isDue).length
  t.ok(count > 400 && count < 600, `${count} of 1000`)
})

t.test('holds no more than it may, the newest, and nothing that is large', async (t) => {
  const { known, person } = opened(10_000)
  const ids = Array.from({ length: 100 }, (_, index) => `id-${index}`)
  for (const id of ids) known.keepPerson(1, id, null, { properties, bytes: 600 }, known.moment)
  // 600 bytes, 400 beside them, and "1 id-90".
  t.same(
    ids.filter((id) => person(1, id) !== null),
    ids.slice(91),
  )
  known.keepPerson(1, 'large', null, { properties, bytes: 65_537 }, known.moment)
  t.equal(person(1, 'large'), null)
  t.equal(person(1, 'id-99'), properties)
})
