import t, { type Test } from 'tap'
import { uuidOf } from '../events/make-batch.ts'
import { openPersons } from './persons-world.ts'
import { type ExportsWorld, openExportsWorld } from './world.ts'

/** Ada is a pro, Bob is not, Cy has said nothing of it, and nobody knows whose the last event is. */
async function openWorldOfThree(t: Test) {
  const world = await openExportsWorld(t)
  const persons = await openPersons(t, world)
  await persons.set('ada', { plan: 'pro' })
  await persons.set('bob', { plan: 'free' })
  await persons.set('cy', { n: 1 })
  const { rows } = await world.postgres.query<{ uuid: string }>(
    'select uuid from person join person_distinct_id on person_uuid = uuid order by distinct_id',
  )
  const bornIds = [...rows.map(({ uuid }) => uuid), uuidOf(0xdead)]
  let count = 0
  /** One event of each, named after who did it. */
  const ingest = () =>
    world.ingest({
      rows: ['ada', 'bob', 'cy', 'nobody'].map((event, n) => ({
        event,
        uuid: uuidOf(count++),
        bornId: bornIds[n]!,
        properties: JSON.stringify({ plan: 'none', n }),
      })),
    })
  return { world, persons, ingest }
}

const pro = { key: 'plan', value: 'pro', operator: 'exact', type: 'person' }
const eventsOf = (world: ExportsWorld, end: string) => world.recorder.columnOf(end, 'event')

t.test('filters of persons choose events by whose they are', async (t) => {
  const query = "select event from events where event <> 'x'"
  const exports: [filters: unknown, query: string | null, events: string[]][] = [
    [[pro], null, ['ada']],
    [[{ key: 'plan', value: 'none', type: 'event' }, pro], query, ['ada']],
    [
      [
        { ...pro, operator: 'is_not' },
        { key: 'n', value: 1, operator: 'gt' },
      ],
      null,
      ['cy', 'nobody'],
    ],
    [[{ ...pro, operator: 'is_not_set' }], query, ['cy', 'nobody']],
    [
      [
        { ...pro, operator: 'is_set' },
        { ...pro, operator: 'is_not' },
      ],
      null,
      ['bob'],
    ],
  ]
  const { world, ingest } = await openWorldOfThree(t)
  for (const [hour, [filters, query, events]] of exports.entries()) {
    world.at(60 * hour)
    const id = await world.makeExport({ filters, hogql_query: query })
    await ingest()
    world.at(60 * hour + 60)
    const run = (await world.settle()).at(-1)
    const what = `${JSON.stringify(filters)} ${query}`
    t.match(run, { status: 'Completed', records_completed: events.length, records_total_count: null }, what)
    t.strictSame(eventsOf(world, run!.data_interval_end.slice(0, 16)), events, what)
    await world.postgres.query('update batch_export set paused = true where id = $1', [id])
  }
})

t.test('who changes between two runs is judged by each as they are then', async (t) => {
  const { world, persons, ingest } = await openWorldOfThree(t)
  await world.makeExport({ filters: [pro] })
  await ingest()
  world.at(60)
  await world.settle()
  await ingest()
  await persons.set('ada', { plan: 'free' })
  await persons.set('bob', { plan: 'pro' })
  world.at(120)
  await world.settle()
  // Of the hour before nothing is taken back, and nothing is told later.
  t.strictSame([eventsOf(world, '13:00'), eventsOf(world, '14:00')], [['ada'], ['bob']])
})

t.test('a chunk that may be at its destination ends there again, with persons of now', async (t) => {
  const { world, persons, ingest } = await openWorldOfThree(t)
  world.recorder.isTable = true
  await world.makeExport({ filters: [pro] })
  await ingest()
  world.at(60)
  world.recorder.beforeKept = async () => {
    world.recorder.beforeKept = () => {}
    await persons.set('cy', { plan: 'pro' })
    throw new Error('not yet')
  }
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 2 })
  t.strictSame(eventsOf(world, '13:00'), ['ada', 'cy'])
})
