// Members over HTTP, answer by answer: status and body as a client gets them.

import t from 'tap'
import { ids, jsonOf, openWorld } from '../api/world.ts'
import { askerOf, denied, error, forbidden, insufficient, invalid, notFound, userOf } from './answers.ts'

const world = await openWorld(t)
const { get, send, remove } = askerOf(world)
const { postgres } = world
const list = `/api/organizations/${ids.ours}/members/`
const joined = '2024-04-01T10:00:00.5Z'

await postgres.query(
  `insert into app_user (id, uuid, distinct_id, email, is_active) overriding system value
   values (5, gen_random_uuid(), 'gone', 'gone@spate.example', false)`,
)
await postgres.query(
  `insert into membership (id, organization_id, user_id, level) values (gen_random_uuid(), $1, 5, 1)`,
  [ids.ours],
)
await postgres.query('update membership set joined_at = $1, updated_at = $1', [joined])
const { rows: people } = await postgres.query<{ name: string; uuid: string; membership: string }>(
  `select distinct_id as name, uuid, membership.id as membership from app_user
   join membership on user_id = app_user.id`,
)
const personOf = (name: string) => people.find((one) => one.name === name) ?? { uuid: '', membership: '' }
const itemOf = (name: string) => `${list}${personOf(name).uuid}/`
const memberOf = (id: number, name: string, level: number, updatedAt = joined) => ({
  id: personOf(name).membership,
  user: userOf(id, name, personOf(name).uuid),
  level,
  joined_at: joined.replace('.5Z', '.500000Z'),
  updated_at: updatedAt.replace('.5Z', '.500000Z'),
  is_2fa_enabled: false,
  has_social_auth: false,
  last_login: null as string | null,
})
const levelsNow = async () => {
  const { rows } = await postgres.query<{ user_id: number; level: number }>(
    'select user_id, level from membership where organization_id = $1 order by user_id',
    [ids.ours],
  )
  return rows.map(({ user_id, level }) => `${user_id}:${level}`).join(' ')
}

t.test('the list holds those who are active', async (t) => {
  const [status, body] = await get(list, 'phx_owner')
  // The envelope.
  const page = body as { results: { last_login: string | null }[] }
  t.equal(status, 200)
  t.strictSame(
    { ...page, results: page.results.map((one) => ({ ...one, last_login: null })) },
    {
      count: 3,
      next: null,
      previous: null,
      results: [1, 2, 3]
        .map((id) => memberOf(id, ['', 'member', 'administrator', 'owner'][id]!, [0, 1, 8, 15][id]!))
        .sort((a, b) => (a.id < b.id ? -1 : 1)),
    },
  )
})

t.test('an email finds its member only', async (t) => {
  await postgres.query('update personal_api_key set last_used_at = $1', [joined])
  t.strictSame(await get(`${list}?email=member@spate.example`, 'phx_owner'), [
    200,
    {
      count: 1,
      next: null,
      previous: null,
      results: [{ ...memberOf(1, 'member', 1), last_login: '2024-04-01T10:00:00.500000Z' }],
    },
  ])
  t.strictSame(await get(`${list}?email=gone@spate.example`, 'phx_owner'), [
    200,
    { count: 0, next: null, previous: null, results: [] },
  ])
})

t.test('others are forbidden everything, even what is not there', async (t) => {
  t.strictSame(await get(list, 'phx_stranger'), forbidden)
  t.strictSame(await get(itemOf('member'), 'phx_stranger'), forbidden)
  t.strictSame(
    await get(itemOf('member'), 'phx_owner'),
    error(405, 'invalid_request', 'method_not_allowed', 'Method "GET" not allowed.'),
  )
})

t.test('who may change levels, and how far', async (t) => {
  const level = (name: string, value: unknown, key?: string) =>
    send('PATCH', itemOf(name), { level: value }, key)
  const stands = async (text: string) => t.equal(await levelsNow(), text)
  t.strictSame(
    await level('administrator', 1, 'phx_member'),
    denied('You can only edit others if you are an admin.'),
  )
  t.strictSame(
    await level('member', 15, 'phx_administrator'),
    denied("You can only make another member owner if you're this organization's owner."),
  )
  t.strictSame(await level('member', 5), invalid('invalid_choice', '"5" is not a valid choice.', 'level'))
  t.strictSame(await level('owner', 1), denied("You can't change your own access level."))
  t.strictSame(
    await level('owner', 1, 'phx_administrator'),
    denied('You can only edit others with level lower or equal to you.'),
  )
  await stands('1:1 2:8 3:15 5:1')

  const changed = {
    ...memberOf(1, 'member', 8, '2024-05-01T12:00:00Z'),
    last_login: '2024-04-01T10:00:00.500000Z',
  }
  await postgres.query('update personal_api_key set last_used_at = $1 where user_id = 1', [joined])
  t.strictSame(await level('member', 8), [200, changed])
  await stands('1:8 2:8 3:15 5:1')
  t.equal((await level('member', 1))[0], 200)
  t.strictSame(await level('member', 8, 'phx_administrator'), [200, changed])
  t.strictSame(await level('member', 15), [200, { ...changed, level: 15 }])
  await stands('1:15 2:8 3:15 5:1')
  t.equal((await level('member', 1))[0], 200)
})

t.test('who may remove whom', async (t) => {
  await postgres.query('update app_user set is_active = true where id = 5')
  t.strictSame(await remove(itemOf('gone'), 'phx_member'), insufficient)
  t.strictSame(await remove(itemOf('gone'), 'phx_administrator'), [204, ''])
  t.strictSame(await remove(itemOf('gone'), 'phx_administrator'), notFound)
  t.strictSame(await remove(`${list}${ids.nobodys}/`), notFound)
  t.strictSame(
    await remove(`${list}@me/`),
    invalid('invalid_input', 'Cannot leave the organization as its owner!', null),
  )
  t.strictSame(await remove(itemOf('member'), 'phx_member'), [204, ''])
  t.equal(await levelsNow(), '2:8 3:15')
  t.equal(jsonOf(await world.get(list, 'phx_owner')).count, 2)
})
