import t from 'tap'
import { addKey, ids, jsonOf, openWorld, validationError } from '../api/world.ts'
import { userOf } from '../contract/answers.ts'

const path = '/api/projects/1/explicit_members/'
const now = '2024-05-01T12:00:00Z'
const world = await openWorld(t)
const { postgres } = world

const { rows: people } = await postgres.query<{ name: string; uuid: string; membership: string }>(
  `select distinct_id as name, uuid, membership.id as membership from app_user
   join membership on user_id = app_user.id`,
)
const uuidOf = (name: string): string => people.find((one) => one.name === name)?.uuid ?? ''
const denied = (detail: string): object => ({
  status: 403,
  text: JSON.stringify({ type: 'authentication_error', code: 'permission_denied', detail, attr: null }),
})
const insufficient = denied('Your project access level is insufficient.')
const add = (name: string, level: unknown, key = 'phx_administrator') =>
  world.send('POST', path, { user_uuid: uuidOf(name), level }, key)
const setAccess = (isPrivate: boolean) =>
  postgres.query('update project set access_control = $1 where id = 1', [isPrivate])

t.test('an open project has no explicit members to make', async (t) => {
  const detail =
    'Explicit members can only be accessed for projects with project-based permissioning enabled.'
  t.match(await add('member', 1), validationError('invalid_input', detail, null))
  t.match(await world.get(path), { status: 200, text: '[]' })
})

t.test('an administrator lets a member in, who is then one of the project', async (t) => {
  await setAccess(true)
  t.equal((await world.get(path)).status, 404)
  const reply = await world.send('POST', path, { user_uuid: uuidOf('member').toUpperCase() }, 'phx_owner')
  t.equal(reply.status, 201)
  const { id, ...made } = jsonOf(reply)
  t.match(id, /^[0-9a-f-]{36}$/)
  t.strictSame(made, {
    level: 1,
    parent_level: 1,
    parent_membership_id: people.find((one) => one.name === 'member')?.membership,
    joined_at: now,
    updated_at: now,
    user: userOf(1, 'member', uuidOf('member')),
    effective_level: 1,
  })
  t.strictSame(jsonOf(await world.get(path)), [{ id, ...made }])
  t.strictSame(jsonOf(await world.get(`${path}@me/`)), { id, ...made })
  t.strictSame(jsonOf(await world.get(`${path}${uuidOf('member')}/`, 'phx_owner')), { id, ...made })
  t.match(jsonOf(await world.get('/api/projects/1/')), { effective_membership_level: 1 })
})

t.test('refuses who is no member of the organization, who is in already, and oneself', async (t) => {
  const organization = denied('You both need to belong to the same organization.')
  t.match(await add('stranger', 1), organization)
  t.match(await world.send('POST', path, { user_uuid: ids.nobodys }), organization)
  t.match(await add('administrator', 1), denied("You can't explicitly add yourself to projects."))
  const twice = 'This user likely already is an explicit member of the project.'
  t.match(await add('member', 8), validationError('invalid_input', twice, null))
  t.match(
    await world.send('POST', path, {}),
    validationError('required', 'This field is required.', 'user_uuid'),
  )
  t.match(
    await world.send('POST', path, { user_uuid: 'x' }),
    validationError('invalid_input', 'Must be a valid UUID.', 'user_uuid'),
  )
  t.match(await add('owner', 15), validationError('invalid_choice', '"15" is not a valid choice.', 'level'))
  t.equal(jsonOf(await world.get(path)).length, 1)
})

t.test(
  'a member of the project reads the list and changes nothing; administrators change levels',
  async (t) => {
    const item = `${path}${uuidOf('member')}/`
    t.match(await add('owner', 1, 'phx_member'), insufficient)
    t.match(await world.send('PATCH', item, { level: 8 }, 'phx_member'), insufficient)
    world.clock.ms += 1000
    t.match(jsonOf(await world.send('PATCH', item, { level: 8 }, 'phx_administrator')), {
      level: 8,
      parent_level: 1,
      effective_level: 8,
      joined_at: now,
      updated_at: '2024-05-01T12:00:01Z',
    })
    t.match(jsonOf(await world.get('/api/projects/1/')), { effective_membership_level: 8 })
    t.match(
      await world.send('PUT', item, { level: 1 }, 'phx_member'),
      denied("You can't set your own access level."),
    )
    t.match(jsonOf(await world.send('PUT', item, {}, 'phx_member')), { level: 8 })
    t.equal((await add('owner', 1, 'phx_member')).status, 201, 'who administers the project lets others in')
    t.match(
      jsonOf(await world.get(path)).map(({ level, effective_level }: Record<string, number>) => [
        level,
        effective_level,
      ]),
      [
        [1, 15],
        [8, 8],
      ],
    )
    t.equal((await world.send('PATCH', `${path}${ids.nobodys}/`, { level: 1 })).status, 404)
    t.equal((await world.get(`${path}no-uuid/`)).status, 404)
  },
)

t.test('everybody may leave, and administrators close the door', async (t) => {
  const remove = (name: string, key: string) => world.get(path + name, key, 'DELETE')
  await world.send('PATCH', `${path}${uuidOf('member')}`, { level: 1 })
  t.match(await remove(uuidOf('owner'), 'phx_member'), insufficient)
  t.match(await remove('@me', 'phx_member'), { status: 204, text: '' })
  t.equal((await world.get('/api/projects/1/')).status, 404)
  t.equal((await remove('@me', 'phx_administrator')).status, 404)
  t.match(await remove(uuidOf('owner'), 'phx_administrator'), { status: 204, text: '' })
  t.match(await world.get(path, 'phx_owner'), { status: 200, text: '[]' })
  const log = jsonOf(
    await world.get(`/api/organizations/${ids.ours}/activity/?scope=ProjectMember`, 'phx_owner'),
  )
  t.strictSame(
    log.results.map(({ activity, detail }: { activity: string; detail: { changes: object[] } }) => [
      activity,
      ...detail.changes,
    ]),
    [
      ['deleted', { field: 'level', before: 1, after: null }],
      ['deleted', { field: 'level', before: 1, after: null }],
      ['updated', { field: 'level', before: 8, after: 1 }],
      ['created', { field: 'level', before: null, after: 1 }],
      ['updated', { field: 'level', before: 1, after: 8 }],
      ['created', { field: 'level', before: null, after: 1 }],
    ],
  )
})

t.test('is not there for others, and wants the scopes of projects', async (t) => {
  t.equal((await world.get(path, 'phx_stranger')).status, 404)
  t.equal((await world.send('POST', path, { user_uuid: uuidOf('member') }, 'phx_stranger')).status, 404)
  await addKey(postgres, 'phx_reads', 3, { scopes: ['project:read'] })
  t.equal((await world.get(path, 'phx_reads')).status, 200)
  t.match(
    await world.send('POST', path, {}, 'phx_reads'),
    denied("API key missing required scope 'project:write'"),
  )
  await postgres.query(
    `insert into project_access (project_id, user_id, level, created_at) values (1, 1, 1, now())`,
  )
  await postgres.query('update app_user set is_active = false where id = 1')
  t.match(await world.get(path, 'phx_owner'), { status: 200, text: '[]' })
})
