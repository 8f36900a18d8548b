import t from 'tap'
import { addKey, ids, jsonOf, openWorld, validationError } from '../api/world.ts'

const path = '/api/personal_api_keys/'

t.test('makes a key that is shown once and works at once', async (t) => {
  const world = await openWorld(t)
  const input = { label: 'CI', scopes: ['project:read', 'project:read'], scoped_teams: [1] }
  const reply = await world.send('POST', path, input, 'phx_member')
  t.equal(reply.status, 201)
  const { id, value, ...made } = jsonOf(reply)
  t.match(value, /^phx_\w{40,}$/)
  t.strictSame(made, {
    label: 'CI',
    mask_value: `phx_...${value.slice(-4)}`,
    scopes: ['project:read'],
    scoped_organizations: [],
    scoped_teams: [1],
    created_at: '2024-05-01T12:00:00Z',
    last_used_at: null,
    expires_at: null,
  })
  t.equal((await world.get('/api/projects/1/', value)).status, 200)
  t.equal((await world.get('/api/projects/2/', value)).status, 403)
  t.match(jsonOf(await world.get(`${path}@current`, value)), { id, label: 'CI' })
  const list = jsonOf(await world.get(path))
  t.equal(list.count, 2)
  for (const shown of [list, jsonOf(await world.get(`${path}${id}/`))]) {
    t.notMatch(JSON.stringify(shown), /"value"|secure|sha256/)
  }
  t.equal((await world.get(`${path}${id}/`, 'phx_owner')).status, 404)
  const { rows } = await world.postgres.query('select secure_value from personal_api_key where id = $1', [id])
  t.match(rows, [{ secure_value: /^sha256\$[0-9a-f]{64}$/ }])
})

t.test('refuses what is no key', async (t) => {
  const world = await openWorld(t)
  const good = { label: 'a', scopes: ['*'] }
  const cases: [body: object, code: string, attr: string][] = [
    [{ scopes: ['*'] }, 'required', 'label'],
    [{ label: '', scopes: ['*'] }, 'blank', 'label'],
    [{ ...good, label: 'a'.repeat(41) }, 'max_length', 'label'],
    [{ label: 'a' }, 'required', 'scopes'],
    [{ ...good, scopes: null }, 'null', 'scopes'],
    [{ ...good, scopes: '*' }, 'not_a_list', 'scopes'],
    [{ ...good, scopes: ['query:read', 'query:admin'] }, 'invalid_choice', 'scopes__1'],
    [{ ...good, scopes: ['__proto__:read'] }, 'invalid_choice', 'scopes__0'],
    [{ ...good, scoped_organizations: ['x'] }, 'invalid_input', 'scoped_organizations__0'],
    [{ ...good, scoped_organizations: [ids.theirs] }, 'does_not_exist', 'scoped_organizations'],
    [{ ...good, scoped_teams: [3] }, 'does_not_exist', 'scoped_teams'],
    [{ ...good, scoped_teams: [2_147_483_648] }, 'max_value', 'scoped_teams__0'],
    [{ ...good, expires_at: 'tomorrow' }, 'invalid_input', 'expires_at'],
    [{ ...good, expires_at: '2024-05-01T12:00:00Z' }, 'invalid_input', 'expires_at'],
  ]
  for (const [body, code, attr] of cases) {
    const reply = await world.send('POST', path, body, 'phx_member')
    t.match({ ...jsonOf(reply), status: reply.status }, { status: 400, code, attr }, JSON.stringify(body))
  }
  t.equal(jsonOf(await world.get(path)).count, 1)
})

t.test('a key gives no more than it has', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reads', 1, { scopes: ['project:read'] })
  await addKey(world.postgres, 'phx_ours', 1, { organizations: [ids.ours] })
  await addKey(world.postgres, 'phx_first', 1, { projects: [1] })
  const make = (body: object, key: string) => world.send('POST', path, { label: 'x', ...body }, key)
  const denied: [body: object, key: string][] = [
    [{ scopes: ['*'] }, 'phx_reads'],
    [{ scopes: ['project:write'] }, 'phx_reads'],
    [{ scopes: ['query:read'] }, 'phx_reads'],
    [{ scopes: ['*'] }, 'phx_ours'],
    [{ scopes: ['*'], scoped_organizations: [ids.theirs] }, 'phx_ours'],
    [{ scopes: ['*'] }, 'phx_first'],
    [{ scopes: ['*'], scoped_teams: [1, 2] }, 'phx_first'],
  ]
  for (const [body, key] of denied) {
    t.equal((await make(body, key)).status, 403, `${key} ${JSON.stringify(body)}`)
  }
  // Neither by way of a better key.
  for (const [method, suffix] of [
    ['POST', 'roll/'],
    ['PATCH', ''],
    ['PUT', ''],
    ['DELETE', ''],
  ] as const) {
    const body = { label: 'x', scopes: ['project:read'] }
    for (const key of ['phx_reads', 'phx_ours', 'phx_first'])
      t.equal((await world.send(method, `${path}phx_member/${suffix}`, body, key)).status, 403)
  }
  t.equal((await world.send('PATCH', `${path}@current/`, { scopes: ['*'] }, 'phx_reads')).status, 403)
  t.equal((await world.send('PATCH', `${path}@current/`, { scoped_teams: [] }, 'phx_first')).status, 403)
  t.equal(jsonOf(await world.get(path)).count, 4)
  t.equal((await make({ scopes: ['project:read'] }, 'phx_reads')).status, 201)
  t.equal((await make({ scopes: ['*'], scoped_organizations: [ids.ours] }, 'phx_ours')).status, 201)
  t.equal((await make({ scopes: ['*'], scoped_teams: [1] }, 'phx_first')).status, 201)
})

t.test('a key that expires makes none that lasts longer', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_brief', 1, { expiresAt: '2024-05-02T00:00:00Z' })
  const detail = 'API keys that expire can only give access until then.'
  const denied = {
    status: 403,
    text: JSON.stringify({ type: 'authentication_error', code: 'permission_denied', detail, attr: null }),
  }
  const body = { label: 'x', scopes: ['*'] }
  for (const expires_at of [undefined, null, '2024-05-02T00:00:00.001Z', '2024-05-02T01:00:00+00:30']) {
    const made = await world.send('POST', path, { ...body, expires_at }, 'phx_brief')
    t.match(made, denied, String(expires_at))
  }
  t.match(await world.send('PATCH', `${path}@current/`, { expires_at: null }, 'phx_brief'), denied)
  for (const [method, suffix] of [
    ['PATCH', ''],
    ['POST', 'roll/'],
    ['DELETE', ''],
  ] as const)
    t.match(await world.send(method, `${path}phx_member/${suffix}`, {}, 'phx_brief'), denied)
  t.equal(jsonOf(await world.get(path)).count, 2)
  const last = { ...body, expires_at: '2024-05-02T01:00:00+01:00' }
  t.equal((await world.send('POST', path, last, 'phx_brief')).status, 201)
  t.equal((await world.send('POST', `${path}@current/roll/`, {}, 'phx_brief')).status, 200)
})

t.test('a moment that the calendar does not have is refused', async (t) => {
  const world = await openWorld(t)
  const detail =
    'Datetime has wrong format. Use one of these formats instead: ' +
    'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].'
  for (const expires_at of [
    '2030-02-30T00:00:00Z',
    '2030-04-31T00:00:00Z',
    '2030-01-01T00:00:00+23:00',
    '2030-01-01T00:00:00-16:00',
    '2030-01-01T00:00:00+05:75',
  ]) {
    const made = await world.send('POST', path, { label: 'x', scopes: ['*'], expires_at })
    t.match(made, validationError('invalid_input', detail, 'expires_at'), expires_at)
  }
  for (const expires_at of ['2028-02-29T00:00:00Z', '2030-01-01T00:00:00.5+15:59', '9999-12-31T23:59:59Z']) {
    const made = await world.send('POST', path, { label: 'x', scopes: ['*'], expires_at })
    t.equal(made.status, 201, made.text)
  }
})

t.test('changes, rolls and revokes a key from the next request on', async (t) => {
  const world = await openWorld(t)
  const made = jsonOf(await world.send('POST', path, { label: 'a', scopes: ['project:read'] }))
  const one = `${path}${made.id}/`
  t.equal((await world.get('/api/projects/1/', made.value)).status, 200)
  const changed = await world.send('PATCH', one, {
    label: 'b',
    scoped_teams: [2],
    expires_at: '2024-05-01T13:00:00Z',
  })
  t.match(jsonOf(changed), { label: 'b', scopes: ['project:read'], scoped_teams: [2] })
  t.match(jsonOf(changed), { expires_at: '2024-05-01T13:00:00Z' })
  t.equal((await world.get('/api/projects/1/', made.value)).status, 403)
  t.equal((await world.send('PUT', one, { label: 'c' })).status, 400)
  t.match(jsonOf(await world.send('PATCH', one, { scoped_teams: null })), { label: 'b', scoped_teams: [] })
  const rolled = jsonOf(await world.send('POST', `${one}roll/`, {}))
  t.match(rolled, { id: made.id, label: 'b', mask_value: `phx_...${rolled.value.slice(-4)}` })
  t.equal((await world.get('/api/projects/1/', made.value)).status, 401)
  t.equal((await world.get('/api/projects/1/', rolled.value)).status, 200)
  world.clock.ms += 3_600_000
  t.equal((await world.get('/api/projects/1/', rolled.value)).status, 401)
  t.equal(jsonOf(await world.send('PATCH', one, { expires_at: null })).expires_at, null)
  t.equal((await world.get('/api/projects/1/', rolled.value)).status, 200)
  t.equal((await world.get(one, 'phx_owner', 'DELETE')).status, 204)
  t.equal((await world.get('/api/projects/1/', rolled.value)).status, 401)
  t.equal((await world.get(one, 'phx_owner')).status, 404)
  t.equal((await world.get(one, 'phx_owner', 'DELETE')).status, 404)
})

t.test('a hundred keys are enough', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(
    `insert into personal_api_key (id, user_id, label, secure_value, mask_value, scopes)
     select 'k' || n, 1, 'x', 'sha256$' || n, 'phx_...', '{}' from generate_series(1, 98) n`,
  )
  const make = () => world.send('POST', path, { label: 'x', scopes: [] }, 'phx_member')
  t.equal((await make()).status, 201)
  t.match(await make(), { status: 400, text: /You can only have 100 personal API keys/ })
})
