import t from 'tap'
import { nothingSeen } from '../../src/identity/seen.ts'
import type { Micros } from '../../src/lib/clock.ts'
import { distinctIdHash, groupHash, personHash, touchedBy } from '../../src/persons/touched.ts'
import { noChanges } from './no-changes.ts'

const ada = '00000000-0000-5000-8000-00000000000a'
const micros = 0 as Micros // an integer
const bob = '00000000-0000-5000-8000-00000000000b'
const person = {
  createdAtMicros: micros,
  isIdentified: true,
  version: 1,
  properties: '{}',
  seen: nothingSeen,
}

t.test('names every person, distinct_id and group of a step', async (t) => {
  const changes = {
    ...noChanges,
    personsDeleted: [{ projectId: 1, uuid: bob }],
    persons: [{ ...person, projectId: 2, uuid: ada }],
    distinctIds: [
      { projectId: 1, distinctId: 'a', personUuid: ada },
      { projectId: 1, distinctId: 'gone', personUuid: null },
    ],
    groups: [
      {
        projectId: 1,
        typeIndex: 4,
        key: 'acme',
        createdAtMicros: micros,
        version: 1,
        properties: '{}',
      },
    ],
  }
  t.same(
    [...(touchedBy(changes) ?? [])],
    [
      personHash(1, bob),
      personHash(2, ada),
      distinctIdHash(1, 'a'),
      distinctIdHash(1, 'gone'),
      groupHash(1, 4, 'acme'),
    ],
  )
  t.same(touchedBy(noChanges), new Uint32Array(0))
})

t.test('a project that goes may have held anything', async (t) => {
  t.equal(touchedBy({ ...noChanges, projectsDeleted: [7] }), null)
})

t.test('what is different has different hashes', async (t) => {
  const hashes = new Set<number>()
  for (let projectId = 1; projectId <= 10; projectId++) {
    for (const text of ['', 'a', 'b', 'ab', ada, bob, 'ä', '\ud83d\ude00']) {
      hashes.add(personHash(projectId, text)).add(distinctIdHash(projectId, text))
      for (let typeIndex = 0; typeIndex < 5; typeIndex++) hashes.add(groupHash(projectId, typeIndex, text))
    }
  }
  t.equal(hashes.size, 10 * 8 * 7)
})

t.test('ids that are counted spread over all places of a table', async (t) => {
  const places = new Set<number>()
  for (let index = 0; index < 65_536; index++) places.add(distinctIdHash(1, `user-${index}`) % 65_536)
  // 1 - 1/e of the places when they are taken at random.
  t.ok(places.size > 40_500 && places.size < 42_300, `${places.size} places`)
})
