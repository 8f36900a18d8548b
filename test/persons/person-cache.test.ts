import t from 'tap'
import type { Person } from '../../src/identity/known.ts'
import type { Micros } from '../../src/lib/clock.ts'
import { PersonCache } from '../../src/persons/person-cache.ts'
import { noChanges } from './no-changes.ts'

function person(uuid: string, properties = '{}'): Person {
  return {
    projectId: 1,
    uuid,
    createdAtMicros: 0 as Micros, // the epoch
    isIdentified: false,
    version: 0,
    properties,
    seenLast: 0,
    seenBefore: 0,
  }
}

t.test('finds a person through each of its ids, in its own project only', async (t) => {
  const cache = new PersonCache(100_000)
  const anna = person('A')
  cache.addPerson(anna)
  cache.addOwner(1, 'anna', 'A')
  t.equal(cache.ownerOf(1, 'anna'), 'A')
  t.equal(cache.ownerOf(2, 'anna'), null)
  t.equal(cache.person('A'), anna)
  t.equal(cache.person('B'), null)
})

t.test('follows what a step changed', async (t) => {
  const cache = new PersonCache(100_000)
  for (const uuid of ['A', 'B']) {
    cache.addPerson(person(uuid))
    cache.addOwner(1, uuid.toLowerCase(), uuid)
  }
  const changed = person('B', '{"n": 1}')
  cache.apply({
    ...noChanges,
    personsDeleted: [{ projectId: 1, uuid: 'A' }],
    persons: [changed],
    distinctIds: [{ projectId: 1, distinctId: 'a', personUuid: 'B' }],
  })
  t.equal(cache.person('A'), null)
  t.equal(cache.ownerOf(1, 'a'), 'B')
  t.equal(cache.person('B'), changed)
  cache.apply({ ...noChanges, distinctIds: [{ projectId: 1, distinctId: 'a', personUuid: null }] })
  t.equal(cache.ownerOf(1, 'a'), null)
  cache.apply({ ...noChanges, projectsDeleted: [2] })
  t.equal(cache.ownerOf(1, 'b'), null)
})

t.test('forgets what was not asked for when it is full, and never shows an older row', async (t) => {
  const cache = new PersonCache(10_000)
  cache.addPerson(person('kept'))
  cache.addOwner(1, 'kept', 'kept')
  cache.addPerson(person('left'))
  const newer = person('kept', '{"n": 1}')
  cache.addPerson(newer)
  for (let i = 0; i < 100; i++) {
    cache.addPerson(person(`other ${i}`))
    t.equal(cache.person('kept'), newer)
    t.equal(cache.ownerOf(1, 'kept'), 'kept')
  }
  t.equal(cache.person('left'), null)
  t.equal(cache.person('other 0'), null)
  t.ok(cache.person('other 99'))
})
