import t from 'tap'
import { openPersons } from './persons-world.ts'
import { type ExportsWorld, openExportsWorld } from './world.ts'

/** What the files of the interval that ends at `end` say of whom: "ada 1", by the property n. */
function told(world: ExportsWorld, end: string): string[] {
  const column = (name: string) => world.recorder.columnOf(end, name)
  const [ids, properties, gone] = [column('distinct_id'), column('properties'), column('is_deleted')]
  return ids.map((id, at) => `${id} ${gone[at] === true ? 'deleted' : (properties[at] as { n: number }).n}`)
}

t.test('a run takes whom an id belongs to when the person or the id changed in its interval', async (t) => {
  const world = await openExportsWorld(t)
  const persons = await openPersons(t, world)
  await persons.set('before', { n: 0 })
  world.at(60)
  await world.makeExport({ model: 'persons' })
  await persons.set('ada', { n: 1 })
  await persons.set('bob', { n: 1 })
  await persons.set('theirs', { n: 1 }, 3)
  world.at(90)
  await persons.identify('ada', 'ada-anonymous')
  await persons.set('cy', { n: 1 })
  world.at(120)
  await persons.set('ada', { n: 2 }) // at the border: the next hour's
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 4, records_total_count: 4 })
  // No run has been planned for the hour that has begun: this one tells of the newest.
  t.strictSame(told(world, '14:00'), ['ada 2', 'ada-anonymous 2', 'bob 1', 'cy 1'])
  t.strictSame(
    [...world.recorder.files.values()].map(({ length }) => length),
    [3, 1],
  )
  world.at(170)
  await persons.delete('bob')
  await persons.delete('cy')
  await persons.set('cy', { n: 3 })
  world.at(180)
  await world.settle()
  t.strictSame(told(world, '15:00'), ['ada 2', 'ada-anonymous 2', 'bob deleted', 'cy 3'])
  world.at(240)
  await world.settle()
  t.strictSame(told(world, '16:00'), [])
})

t.test('filters choose persons by their properties, and hide nobody who is deleted', async (t) => {
  const world = await openExportsWorld(t)
  const persons = await openPersons(t, world)
  const filters = [{ key: 'n', value: 1, operator: 'gt', type: 'person' }]
  await world.makeExport({ model: 'persons', filters })
  for (const [id, n] of [
    ['ada', 1],
    ['bob', 2],
    ['cy', 3],
    ['dan', 0],
    ['eve', 5],
  ] as const) {
    await persons.set(id, { n })
  }
  world.at(60)
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 3, records_total_count: null })
  t.strictSame(told(world, '13:00'), ['bob 2', 'cy 3', 'eve 5'])
  await persons.delete('bob')
  await persons.set('dan', { n: 4 })
  world.at(120)
  await world.settle()
  t.strictSame(told(world, '14:00'), ['bob deleted', 'dan 4'])
})

t.test('filters of events fail an export of persons', async (t) => {
  const world = await openExportsWorld(t)
  const persons = await openPersons(t, world)
  await world.makeExport({ model: 'persons', filters: [{ key: 'n', value: 1, type: 'event' }] })
  await persons.set('ada', { n: 1 })
  world.at(60)
  const [run] = await world.settle()
  t.match(run, { status: 'Failed', latest_error: /where type is person/ })
})

t.test('rows carry versions that grow, and the time of their last change', async (t) => {
  const world = await openExportsWorld(t)
  const persons = await openPersons(t, world)
  await world.makeExport({ model: 'persons' })
  await persons.set('ada', { n: 1 })
  world.at(30)
  await persons.set('bob', { n: 1 })
  await persons.identify('ada', 'bob-to-be')
  await persons.set('ada', { n: 2 })
  world.at(60)
  await world.settle()
  const [{ rows: ids }, { rows: people }] = await Promise.all([
    world.postgres.query<{ distinct_id: string; person_uuid: string; version: number }>(
      'select distinct_id, person_uuid, version from person_distinct_id order by distinct_id',
    ),
    world.postgres.query<{ uuid: string; version: number; created_at: string; properties: object }>(
      'select * from person',
    ),
  ])
  const six = (text: unknown) => String(text).replace(/(\.\d+)?Z$/, (_, f = '.') => `${f.padEnd(7, '0')}Z`)
  t.strictSame(
    [...world.recorder.files.values()].flat().map(({ _inserted_at, ...row }) => row),
    ids.map(({ distinct_id, person_uuid, version }) => {
      const person = people.find(({ uuid }) => uuid === person_uuid)!
      return {
        team_id: 1,
        distinct_id,
        person_id: person_uuid,
        properties: person.properties,
        person_distinct_id_version: version,
        person_version: person.version,
        created_at: six(person.created_at),
        is_deleted: false,
      }
    }),
  )
  const stamps = world.recorder.column('_inserted_at')
  // Three steps at one moment of the clock: a microsecond between them.
  t.strictSame(stamps, [
    '2024-05-01T12:30:00.000002Z',
    '2024-05-01T12:30:00.000000Z',
    '2024-05-01T12:30:00.000002Z',
  ])
})

t.test(
  'a backfill takes those whose last change lies in its intervals, from the beginning all',
  async (t) => {
    const world = await openExportsWorld(t)
    const persons = await openPersons(t, world)
    const id = await world.makeExport({ model: 'persons', start_at: '2030-01-01T00:00:00Z' })
    await persons.set('ada', { n: 1 })
    await persons.set('bob', { n: 1 })
    world.at(65)
    await persons.set('ada', { n: 2 })
    world.at(125)
    await persons.set('cy', { n: 3 })
    world.at(185)
    await world.backfill(id, '2024-05-01T12:00:00Z', '2024-05-01T14:00:00Z')
    await world.settle()
    t.strictSame(told(world, '13:00'), ['bob 1'])
    t.strictSame(told(world, '14:00'), ['ada 2'])
    world.recorder.files.clear()
    await world.backfill(id, null, '2024-05-01T15:00:00Z')
    await world.settle()
    t.strictSame(told(world, '15:00'), ['ada 2', 'bob 1', 'cy 3'])
  },
)

t.test('a chunk that is delivered again after a crash loses nobody, whoever changed meanwhile', async (t) => {
  const world = await openExportsWorld(t)
  const persons = await openPersons(t, world)
  await world.makeExport({ model: 'persons' })
  for (const id of ['a', 'b', 'c', 'd', 'e']) await persons.set(id, { n: 1 })
  world.at(60)
  let crashes = 0
  world.recorder.afterKept = async ({ index }) => {
    if (index > 0 || crashes++ > 0) return
    await persons.delete('b')
    throw new Error('the answer is lost')
  }
  await world.settle()
  t.strictSame(told(world, '13:00'), ['a 1', 'b deleted', 'c 1', 'd 1', 'e 1'])
  t.equal(crashes, 2)
})
