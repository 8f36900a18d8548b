import t from 'tap'
import { type Answer, addKey, jsonOf, openWorld, type World } from '../api/world.ts'
import { until } from '../support/until.ts'

const rotatePath = '/api/projects/1/rotate_secret_token/'
const flags = '/api/projects/1/feature_flags/'

async function rotate(world: World): Promise<{ secret_api_token: string; secret_api_token_backup: string }> {
  const reply = await world.send('PATCH', rotatePath, {})
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
  return jsonOf(reply)
}

function codeOf(answer: Answer): unknown[] {
  return [answer.status, jsonOf(answer).code]
}

t.test('the key of a project opens what servers need to evaluate flags, and nothing else', async (t) => {
  const world = await openWorld(t)
  const limits = { key: 'limits', is_remote_configuration: true, has_encrypted_payloads: true }
  await world.send('POST', flags, { ...limits, filters: { groups: [{}], payloads: { true: '"secret"' } } })
  await until(() => world.definitions.of(1)?.flags.length === 1)
  const { secret_api_token: key } = await rotate(world)
  t.match(key, /^phs_[0-9A-Za-z]{40,44}$/)
  for (const path of [
    '/flags/definitions?token=phc_1&send_cohorts',
    '/flags/definitions',
    '/api/feature_flag/local_evaluation/?token=phc_1',
  ]) {
    const reply = await world.get(path, key)
    t.equal(reply.status, 200, path)
    t.same(Object.keys(jsonOf(reply)), ['flags', 'group_type_mapping', 'cohorts'])
  }
  for (const project of ['1', '@current']) {
    const path = `/api/projects/${project}/feature_flags/limits/remote_config?token=phc_1`
    t.equal((await world.get(path, key)).text, '"\\"secret\\""', 'encrypted payloads too')
  }
  for (const path of [flags, '/api/projects/1/', '/api/users/@me/', '/api/projects/1/persons/'])
    t.same(codeOf(await world.get(path, key)), [401, 'authentication_failed'], path)
  t.same(codeOf(await world.send('PATCH', rotatePath, {}, key)), [401, 'authentication_failed'])
})

t.test('it opens no other project', async (t) => {
  const world = await openWorld(t)
  const { secret_api_token: key } = await rotate(world)
  for (const path of [
    '/flags/definitions?token=phc_2',
    '/api/projects/2/feature_flags/x/remote_config',
    '/api/projects/@current/feature_flags/x/remote_config?token=phc_2',
    '/api/projects/1e0/feature_flags/x/remote_config'.replace('1e0', 'x'),
  ])
    t.same(codeOf(await world.get(path, key)), [403, 'permission_denied'], path)
  t.same(codeOf(await world.get('/flags/definitions?token=phc_nobody', key)), [401, 'authentication_failed'])
  t.same(codeOf(await world.get('/flags/definitions', 'phs_nobody')), [401, 'authentication_failed'])
})

t.test('a new key leaves the one before it good until the backup is deleted', async (t) => {
  const world = await openWorld(t)
  const first = await rotate(world)
  t.equal(first.secret_api_token_backup, null)
  const second = await rotate(world)
  t.match(second.secret_api_token_backup, /^phs_\.\.\.\w{4}$/)
  const open = async (key: string) => (await world.get('/flags/definitions', key)).status
  t.same([await open(first.secret_api_token), await open(second.secret_api_token)], [200, 200])
  const third = await rotate(world)
  t.same([await open(first.secret_api_token), await open(second.secret_api_token)], [401, 200])
  const reply = await world.send('PATCH', '/api/projects/1/delete_secret_token_backup/', {})
  t.equal(reply.status, 200)
  t.same(jsonOf(reply), {
    id: 1,
    secret_api_token: `phs_...${third.secret_api_token.slice(-4)}`,
    secret_api_token_backup: null,
  })
  t.same([await open(second.secret_api_token), await open(third.secret_api_token)], [401, 200])
  const { rows } = await world.postgres.query<{ text: string }>(
    `select to_jsonb(k)::text as text from project_secret_key k union all
     select to_jsonb(a)::text from organization_activity a`,
  )
  t.ok(rows.length > 3)
  for (const { text } of rows) t.notMatch(text, third.secret_api_token)
})

t.test('only administrators make one', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_read', 1, { scopes: ['project:read'] })
  t.same(codeOf(await world.send('PATCH', rotatePath, {}, 'phx_read')), [403, 'permission_denied'])
  t.equal((await world.send('PATCH', rotatePath, {}, 'phx_stranger')).status, 404)
  const none = await world.send('PATCH', '/api/projects/1/delete_secret_token_backup/', {})
  t.same(jsonOf(none), { id: 1, secret_api_token: null, secret_api_token_backup: null })
})
