import t from 'tap'
import { idsToLoad } from '../../src/identity/ids-to-load.ts'
import type { Person } from '../../src/identity/known.ts'
import { readInput } from '../../src/identity/operations.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import type { Micros } from '../../src/lib/clock.ts'
import { LoadedProject } from '../../src/persons/loaded-project.ts'
import { eventsOf } from './store-contract.ts'

const anna: Person = {
  projectId: 1,
  uuid: 'u1',
  createdAtMicros: 0 as Micros, // the epoch
  isIdentified: false,
  version: 0,
  properties: '{}',
  seen: nothingSeen,
}

t.test('finds persons by their ids and groups by the name of their type, of what was loaded', async (t) => {
  const [ids] = idsToLoad(eventsOf([{ event: 'e', distinct_id: 'anna' }]).map(readInput))
  const project = new LoadedProject(ids!, true)
  project.owners.set('anna', 'u1').set('gone', 'u2')
  project.persons.set('u1', anna)
  project.groupTypes.set('company', 0)
  const group = { ...anna, typeIndex: 0, key: 'acme' }
  project.groups.set('0 acme', group)

  t.equal(project.person('anna'), anna)
  t.equal(project.person('gone'), null)
  t.equal(project.person('nobody'), null)
  t.equal(project.group('company', 'acme'), group)
  t.equal(project.group('team', 'acme'), null)
})

t.test('refuses to go on without the ids of a person that goes away', async (t) => {
  const [ids] = idsToLoad(eventsOf([{ event: 'e', distinct_id: 'anna' }]).map(readInput))
  const project = new LoadedProject(ids!, true)
  t.throws(() => project.distinctIdsOf('u1'), /ids of a person/)
  project.distinctIds.set('u1', ['anna'])
  t.same(project.distinctIdsOf('u1'), ['anna'])
})
