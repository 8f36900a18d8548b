import t from 'tap'
import { bornIdOf } from '../../src/identity/born-id.ts'
import type { Person } from '../../src/identity/known.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import type { Micros } from '../../src/lib/clock.ts'
import { parseUuidText } from '../../src/lib/uuid.ts'
import { printSeen } from '../../src/persons/packed-seen.ts'
import { PersonCache } from '../../src/persons/person-cache.ts'
import { uuidOf } from '../events/make-batch.ts'
import { noChanges } from './no-changes.ts'

function person(uuid: string, properties = '{}'): Person {
  return {
    projectId: 1,
    uuid,
    createdAtMicros: 0 as Micros, // the epoch
    isIdentified: false,
    version: 0,
    properties,
    seen: nothingSeen,
  }
}

const [annaId, bobId] = [uuidOf(0xa), uuidOf(0xb)]

t.test('finds a person through each of its ids, in its own project only', async (t) => {
  const cache = new PersonCache(100_000)
  const anna = person(annaId)
  cache.addPerson(anna)
  cache.addOwner(bornIdOf(1, 'anna'), annaId)
  t.equal(cache.ownerOf(bornIdOf(1, 'anna')), annaId)
  t.equal(cache.ownerOf(bornIdOf(2, 'anna')), null)
  t.equal(cache.person(annaId), anna)
  t.equal(cache.person(bobId), null)
})

t.test('follows what a step changed', async (t) => {
  const cache = new PersonCache(100_000)
  for (const [id, uuid] of [
    ['a', annaId],
    ['b', bobId],
  ] as const) {
    cache.addPerson({ ...person(uuid), seen: { ...nothingSeen, last: 7 } })
    cache.addOwner(bornIdOf(1, id), uuid)
  }
  const changed = person(bobId, '{"n": 1}')
  cache.apply({
    ...noChanges,
    personsDeleted: [{ projectId: 1, uuid: annaId }],
    persons: [changed],
    distinctIds: [{ projectId: 1, distinctId: 'a', personUuid: bobId }],
  })
  t.equal(cache.person(annaId), null)
  t.equal(cache.seenBy(annaId), null)
  t.equal(cache.ownerOf(bornIdOf(1, 'a')), bobId)
  t.equal(cache.person(bobId), changed)
  t.same(cache.seenBy(bobId), nothingSeen, 'a changed person has seen nothing yet')
  cache.apply({ ...noChanges, distinctIds: [{ projectId: 1, distinctId: 'a', personUuid: null }] })
  t.equal(cache.ownerOf(bornIdOf(1, 'a')), null)
  cache.apply({ ...noChanges, projectsDeleted: [2] })
  t.equal(cache.ownerOf(bornIdOf(1, 'b')), null)
  t.equal(cache.seenBy(bobId), null)
})

t.test('knows what persons have seen when it has no room for their rows', async (t) => {
  const cache = new PersonCache(60_000)
  const digests = [2 ** 42 - 1, 2 ** 32, 2 ** 31 + 1] as const
  const [last, before, earlier] = digests
  const seen = { last, before, earlier }
  for (let n = 0; n < 200; n++) cache.addPerson({ ...person(uuidOf(n), 'x'.repeat(400)), seen })
  t.equal(cache.person(uuidOf(0)), null)
  t.same(cache.seenBy(uuidOf(0)), seen)
  const owner = new Uint32Array(16 / 4)
  parseUuidText(uuidOf(0), new Uint8Array(owner.buffer), 0)
  for (const digest of digests) t.equal(cache.hasSeen(owner, digest), true)
  for (const digest of [2 ** 41 - 1, 2 ** 33, 2 ** 31]) t.equal(cache.hasSeen(owner, digest), false)
  const later = { last: 1, before: 2 ** 42 - 2, earlier: 0xffff_ffff }
  cache.noteSeen({ uuid: uuidOf(0), seen: later })
  t.same(cache.seenBy(uuidOf(0)), later)
})

t.test('forgets rows that were not asked for when it is full, and never shows an older one', async (t) => {
  const cache = new PersonCache(30_000)
  const [kept, left] = [annaId, bobId]
  cache.addPerson(person(kept))
  cache.addPerson(person(left))
  const newer = person(kept, '{"n": 1}')
  cache.addPerson(newer)
  for (let i = 0; i < 100; i++) {
    cache.addPerson(person(uuidOf(1000 + i)))
    t.equal(cache.person(kept), newer)
  }
  t.equal(cache.person(left), null)
  t.equal(cache.person(uuidOf(1000)), null)
  t.ok(cache.person(uuidOf(1099)))
})

t.test('takes from a row what a person has seen, unless it knows more of it', async (t) => {
  const cache = new PersonCache(100_000)
  cache.addStoredSeen(annaId, null)
  t.equal(cache.seenBy(annaId), null)
  const stored = { last: 7, before: 0, earlier: 0 }
  cache.addStoredSeen(annaId, printSeen(stored))
  t.same(cache.seenBy(annaId), stored)
  const more = { last: 9, before: 7, earlier: 0 }
  cache.noteSeen({ uuid: annaId, seen: more })
  cache.addStoredSeen(annaId, printSeen(stored))
  t.same(cache.seenBy(annaId), more)
})
