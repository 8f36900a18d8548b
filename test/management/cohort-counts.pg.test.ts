import t, { type Test } from 'tap'
import { openCohortCounts } from '../../src/management/cohort-counts.ts'
import { jsonOf, openWorld, type World } from '../api/world.ts'
import { silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { addPerson, personUuid } from './identities.ts'

const path = '/api/projects/1/cohorts/'
const tree = (...values: object[]) => ({ properties: { type: 'AND', values } })
const plan = (value: string) => ({ key: 'plan', value, operator: 'exact', type: 'person' })
const inCohort = (value: number, more: object = {}) => ({ key: 'id', value, type: 'cohort', ...more })

function open(t: Test, { postgres, clock }: World) {
  const counts = openCohortCounts({
    postgres,
    clock: { nowMs: () => clock.ms, monotonicMs: () => clock.ms },
    log,
  })
  t.teardown(() => counts.close())
  return counts
}

async function create(world: World, cohort: object): Promise<number> {
  const reply = await world.send('POST', path, cohort)
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return jsonOf(reply).id
}

async function told(world: World, id: number): Promise<unknown[]> {
  const { count, is_calculating, last_calculation } = jsonOf(await world.get(`${path}${id}`))
  return [count, is_calculating, last_calculation]
}

t.test('counts the persons that match, of all kinds of cohorts in one look', async (t) => {
  const world = await openWorld(t)
  const pros = await create(world, { name: 'pros', filters: tree(plan('pro')) })
  const list = await create(world, { name: 'list', is_static: true })
  const others = await create(world, {
    name: 'listed, but no pros',
    filters: tree(inCohort(list), inCohort(pros, { negation: true })),
  })
  const nobody = await create(world, { name: 'nobody', filters: tree(plan('none')) })
  t.same(await told(world, pros), [null, true, null])
  // More than are read at a time.
  for (let number = 1; number <= 450; number++) {
    const properties = number % 3 === 0 ? '{"plan":"PRO"}' : '{"plan":"free"}'
    await addPerson(world.postgres, { number, properties })
  }
  await addPerson(world.postgres, { number: 1000, projectId: 2, properties: '{"plan":"pro"}' })
  await world.send('POST', `${path}${list}/add_persons_to_static_cohort/`, {
    person_ids: [1, 2, 3].map(personUuid),
  })
  await open(t, world).count()
  const at = '2024-05-01T12:00:00Z'
  t.same(await told(world, pros), [150, false, at])
  t.same(await told(world, others), [2, false, at])
  t.same(await told(world, nobody), [0, false, at])
  t.same(await told(world, list), [3, false, null], 'a list is counted when it is asked for')
})

t.test('counts again what has changed, and everything after ten minutes', async (t) => {
  const world = await openWorld(t)
  const id = await create(world, { name: 'pros', filters: tree(plan('pro')) })
  await addPerson(world.postgres, { number: 1, properties: '{"plan":"pro"}' })
  const counts = open(t, world)
  await counts.count()
  t.same(await told(world, id), [1, false, '2024-05-01T12:00:00Z'])
  await addPerson(world.postgres, { number: 2, properties: '{"plan":"pro"}' })
  world.clock.ms += 599_000
  await counts.count()
  t.same((await told(world, id))[0], 1, 'not yet')
  world.clock.ms += 2_000
  await counts.count()
  t.same(await told(world, id), [2, false, '2024-05-01T12:10:01Z'])
  world.clock.ms += 1_000
  await world.send('PATCH', `${path}${id}`, { filters: tree(plan('free')) })
  // It hears of the change by itself.
  await until(async () => (await told(world, id))[1] === false)
  t.same(await told(world, id), [0, false, '2024-05-01T12:10:02Z'])
})
