import { fail } from 'node:assert/strict'
import t from 'tap'
import { bornIdOf } from '../../src/identity/born-id.ts'
import type { KnownProject, Person } from '../../src/identity/known.ts'
import { ProjectDraft } from '../../src/identity/project-draft.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import type { Micros } from '../../src/lib/clock.ts'

const createdAtMicros = 1_714_564_800_000_000 as Micros // 2024-05-01T12:00:00Z

/** A project in which each list of ids is a person, named after the first. */
function projectOf(...persons: string[][]): ProjectDraft {
  const rows = persons.map((ids): Person => {
    const uuid = bornIdOf(1, ids[0] ?? '')
    const others = { isIdentified: false, version: 0, properties: '{}', seen: nothingSeen }
    return { projectId: 1, uuid, createdAtMicros, ...others }
  })
  const known: KnownProject = {
    hasEvents: true,
    groupTypes: new Map(),
    person: (distinctId) => rows[persons.findIndex((ids) => ids.includes(distinctId))] ?? null,
    personByUuid: (uuid) => rows.find((row) => row.uuid === uuid) ?? null,
    distinctIdsOf: (uuid) => persons[rows.findIndex((row) => row.uuid === uuid)] ?? [],
    group: () => null,
  }
  return new ProjectDraft(1, known)
}

t.test('has nothing to save of persons that were only looked at', async (t) => {
  const project = projectOf(['a', 'b'])
  t.equal(project.personOf('a'), project.personOf('b'))
  t.equal(project.personOf('c'), null)
  t.same(
    [project.persons(), project.distinctIds(), project.storeChanges(), project.flips()],
    [[], [], [], []],
  )
})

t.test('gives new ids an override unless the person is born to them', async (t) => {
  const project = projectOf()
  const person = project.create('a', createdAtMicros, new Map())
  project.attach('b', person)
  t.same(project.storeChanges(), [
    { kind: 'override', projectId: 1, bornId: bornIdOf(1, 'b'), personUuid: bornIdOf(1, 'a') },
  ])
  t.equal(project.persons().length, 1)
})

t.test('moves every id of a person, known and new', async (t) => {
  const project = projectOf(['a', 'b'], ['c'])
  const source = project.personOf('a') ?? fail('a is known')
  const survivor = project.personOf('c') ?? fail('c is known')
  project.attach('d', source)
  project.moveIds(source, survivor)
  t.same(
    project.distinctIds().map(({ distinctId, personUuid }) => [distinctId, personUuid]),
    ['d', 'a', 'b'].map((id) => [id, bornIdOf(1, 'c')]),
  )
  t.same(project.merges(), [{ projectId: 1, from: bornIdOf(1, 'a'), into: bornIdOf(1, 'c') }])
})

t.test('refuses to make a person of an id that has given one its uuid', async (t) => {
  const project = projectOf()
  project.create('a', createdAtMicros, new Map())
  t.throws(() => project.create('a', createdAtMicros, new Map()), { message: /^assertion failed/ })
})
