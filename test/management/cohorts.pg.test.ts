import t from 'tap'
import { type Answer, addKey, jsonOf, openWorld, type World } from '../api/world.ts'
import { addPerson, personUuid } from './identities.ts'

const path = '/api/projects/1/cohorts/'
const flagsPath = '/api/projects/1/feature_flags/'
const tree = (...values: object[]) => ({ properties: { type: 'AND', values } })
const pro = { key: 'plan', value: 'pro', operator: 'exact', type: 'person' }
const inCohort = (id: number) => ({ key: 'id', value: id, type: 'cohort' })

async function create(world: World, cohort: object): Promise<{ id: number; count: number | null }> {
  const reply = await world.send('POST', path, cohort)
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return jsonOf(reply)
}

function refusal(answer: Answer): unknown[] {
  const { code, detail, attr } = jsonOf(answer)
  return [answer.status, code, attr, detail]
}

async function members(world: World): Promise<unknown[]> {
  const { rows } = await world.postgres.query(
    'select project_id, cohort_id, person_uuid from cohort_person order by cohort_id, person_uuid',
  )
  return rows
}

t.test('creates, shows, lists and changes cohorts', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', path, { name: 'Pros', filters: tree(pro) })
  t.equal(reply.status, 201)
  const { created_by, ...cohort } = jsonOf(reply)
  t.strictSame(cohort, {
    id: 1,
    name: 'Pros',
    description: '',
    filters: tree(pro),
    is_static: false,
    count: null,
    is_calculating: true,
    last_calculation: null,
    deleted: false,
    created_at: '2024-05-01T12:00:00Z',
  })
  t.match(created_by, { email: 'owner@spate.example' })
  const list = await create(world, {
    name: 'List',
    is_static: true,
    filters: { properties: { type: 'OR', values: [] } },
  })
  t.match(list, { is_static: true, filters: {}, count: 0 })
  t.match(jsonOf(await world.get(path)), { count: 2, results: [{ name: 'List' }, { name: 'Pros' }] })
  t.match(jsonOf(await world.get(`${path}?search=PRO`)), { count: 1, results: [{ name: 'Pros' }] })
  t.match(jsonOf(await world.send('PATCH', `${path}1`, { description: 'who pay' })), {
    name: 'Pros',
    description: 'who pay',
    filters: tree(pro),
  })
  t.match(jsonOf(await world.send('PUT', `${path}1`, { name: 'Payers', filters: tree(pro, pro) })), {
    name: 'Payers',
    description: 'who pay',
    filters: tree(pro, pro),
  })
  t.match(jsonOf(await world.get(`${path}1/activity/`)), {
    count: 3,
    results: [{ activity: 'updated' }, { activity: 'updated' }, { activity: 'created', scope: 'Cohort' }],
  })
})

t.test('refuses what is wrong with a cohort', async (t) => {
  const world = await openWorld(t)
  const { id } = await create(world, { name: 'a', filters: tree(pro) })
  const other = await create(world, { name: 'b', filters: tree(inCohort(id)) })
  const invalid = 'Filters are not valid: '
  const cases: [method: string, path: string, body: unknown, code: string, attr: string, detail: string][] = [
    ['POST', path, { filters: tree(pro) }, 'required', 'name', 'This field is required.'],
    [
      'POST',
      path,
      { name: 'x'.repeat(401), filters: tree(pro) },
      'max_length',
      'name',
      'Ensure this field has no more than 400 characters.',
    ],
    [
      'POST',
      path,
      { name: 'x' },
      'invalid_input',
      'filters',
      `${invalid}properties must be a group: {type: AND or OR, values: […]}.`,
    ],
    [
      'POST',
      path,
      { name: 'x', filters: tree({ type: 'behavioral', key: '$pageview' }) },
      'invalid_input',
      'filters',
      `${invalid}properties.values[0] is about behaviour, which cohorts here do not know.`,
    ],
    [
      'POST',
      path,
      { name: 'x', is_static: true, filters: tree(pro) },
      'invalid_input',
      'filters',
      `${invalid}a static cohort has persons instead of filters.`,
    ],
    [
      'POST',
      path,
      { name: 'x', filters: tree(inCohort(99)) },
      'invalid_input',
      'filters',
      `${invalid}cohort 99 does not exist.`,
    ],
    [
      'PATCH',
      `${path}${id}`,
      { filters: tree(inCohort(other.id)) },
      'invalid_input',
      'filters',
      `${invalid}cohorts must not depend on each other in a circle (1 → 2 → 1).`,
    ],
    [
      'PATCH',
      `${path}${id}`,
      { is_static: true },
      'invalid_input',
      'is_static',
      'A cohort cannot become static, or cease to be.',
    ],
  ]
  for (const [method, at, body, ...expected] of cases)
    t.strictSame(refusal(await world.send(method, at, body)), [400, ...expected])
  t.equal(jsonOf(await world.get(path)).count, 2)
})

t.test('does not delete what flags and cohorts are made of', async (t) => {
  const world = await openWorld(t)
  const used = await create(world, { name: 'used', filters: tree(pro) })
  const user = await create(world, { name: 'user', filters: tree(inCohort(used.id)) })
  const filters = { groups: [{ properties: [inCohort(user.id)] }] }
  const flag = jsonOf(await world.send('POST', flagsPath, { key: 'beta', filters }))
  t.strictSame(refusal(await world.send('PATCH', `${path}${user.id}`, { deleted: true })), [
    400,
    'invalid_input',
    'deleted',
    'This cohort is used in feature flags: beta. Remove it there before deleting it.',
  ])
  t.match(
    refusal(await world.send('PATCH', `${path}${used.id}`, { deleted: true }))[3],
    /is used in cohorts: user/,
  )
  await world.send('PATCH', `${flagsPath}${flag.id}`, { deleted: true })
  t.match(jsonOf(await world.send('PATCH', `${path}${user.id}`, { deleted: true })), { deleted: true })
  t.match(jsonOf(await world.send('PATCH', `${path}${used.id}`, { deleted: true })), { deleted: true })
  t.equal(jsonOf(await world.get(path)).count, 0)
  t.match(
    refusal(await world.send('PATCH', `${flagsPath}${flag.id}`, { deleted: false }))[3],
    /cohort 2 does not exist/,
  )
  t.match(
    refusal(await world.send('PATCH', `${path}${user.id}`, { deleted: false }))[3],
    /cohort 1 does not exist/,
  )
  t.equal((await world.send('PATCH', `${path}${used.id}`, { deleted: false })).status, 200)
  t.equal((await world.send('DELETE', `${path}${used.id}`, '')).status, 405)
})

t.test('puts persons into a static cohort and takes them out', async (t) => {
  const world = await openWorld(t)
  for (const number of [1, 2]) await addPerson(world.postgres, { number })
  await addPerson(world.postgres, { number: 3, projectId: 2, distinctIds: ['other'] })
  const { id } = await create(world, { name: 'List', is_static: true })
  const add = `${path}${id}/add_persons_to_static_cohort/`
  const ids = [personUuid(1).toUpperCase(), personUuid(2), personUuid(3), personUuid(4)]
  const reply = await world.send('POST', add, { person_ids: ids })
  t.equal(reply.status, 200)
  t.strictSame(jsonOf(reply), {
    success: true,
    added: 2,
    unknown_person_ids: [personUuid(3), personUuid(4)],
  })
  t.strictSame(jsonOf(await world.send('PATCH', add, { person_ids: [personUuid(1)] })).added, 0)
  const row = (number: number) => ({ project_id: 1, cohort_id: id, person_uuid: personUuid(number) })
  t.strictSame(await members(world), [row(1), row(2)])
  t.equal(jsonOf(await world.get(`${path}${id}`)).count, 2)

  const remove = `${path}${id}/remove_person_from_static_cohort/`
  t.strictSame(jsonOf(await world.send('POST', remove, { person_id: personUuid(1) })), { success: true })
  t.match(refusal(await world.send('PATCH', remove, { person_id: personUuid(1) })), [404, 'not_found'])
  t.strictSame(await members(world), [row(2)])
  const activities = jsonOf(await world.get(`${path}${id}/activity`)).results
  t.same(activities.map(({ activity }: { activity: string }) => activity).sort(), [
    'created',
    'person_removed',
    'persons_added',
  ])

  t.match(refusal(await world.send('POST', add, { person_ids: ['x'] })), [
    400,
    'invalid_input',
    'person_ids__0',
  ])
  t.match(refusal(await world.send('POST', add, {})), [400, 'required', 'person_ids'])
  const tooMany = { person_ids: Array.from({ length: 10_001 }, () => personUuid(1)) }
  t.match(refusal(await world.send('POST', add, tooMany)), [400, 'max_length', 'person_ids'])
  const dynamic = await create(world, { name: 'Pros', filters: tree(pro) })
  t.match(
    refusal(
      await world.send('POST', `${path}${dynamic.id}/add_persons_to_static_cohort`, { person_ids: [] }),
    ),
    [400, 'invalid_input', null, 'Persons can be put into static cohorts only.'],
  )
})

t.test('a person that is being merged or deleted is not put into a cohort', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1 })
  const { id } = await create(world, { name: 'List', is_static: true })
  const consumer = await world.postgres.hold()
  await consumer.query('begin')
  await consumer.query('delete from person')
  const body = { person_ids: [personUuid(1)] }
  const reply = await world.send('POST', `${path}${id}/add_persons_to_static_cohort/`, body)
  await consumer.query('commit')
  consumer.release(true)
  t.match(jsonOf(reply), { added: 0, unknown_person_ids: [personUuid(1)] })
  t.same(await members(world), [])
})

t.test('cohorts are behind the wall of their project, and need their scope', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1 })
  await addPerson(world.postgres, { number: 2, projectId: 3 })
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['cohort:read'] })
  await addKey(world.postgres, 'phx_flags', 1, { scopes: ['feature_flag:write'] })
  const { id } = await create(world, { name: 'List', is_static: true })
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  t.equal((await world.get(path, 'phx_flags')).status, 403)
  t.equal((await world.get(path, 'phx_stranger')).status, 404)
  const body = { person_ids: [personUuid(1)] }
  t.equal(
    (await world.send('POST', `${path}${id}/add_persons_to_static_cohort/`, body, 'phx_reader')).status,
    403,
  )
  const theirs = '/api/projects/3/cohorts/'
  t.equal((await world.get(`${theirs}${id}`, 'phx_stranger')).status, 404)
  t.equal((await world.send('PATCH', `${theirs}${id}`, { name: 'x' }, 'phx_stranger')).status, 404)
  for (const action of ['add_persons_to_static_cohort', 'remove_person_from_static_cohort']) {
    const sent = { ...body, person_id: personUuid(1) }
    t.equal((await world.send('POST', `${theirs}${id}/${action}/`, sent, 'phx_stranger')).status, 404)
  }
  const their = jsonOf(await world.send('POST', theirs, { name: 'T', is_static: true }, 'phx_stranger'))
  const added = await world.send(
    'POST',
    `${theirs}${their.id}/add_persons_to_static_cohort/`,
    body,
    'phx_stranger',
  )
  t.match(jsonOf(added), { added: 0 }, 'a person of ours is nobody to them')
  t.match(
    refusal(
      await world.send('POST', flagsPath, {
        key: 'x',
        filters: { groups: [{ properties: [inCohort(their.id)] }] },
      }),
    ),
    [400],
  )
  t.same(await members(world), [])
})
