// Payloads that are encrypted: who sees what, what a change keeps, and that the secret is nowhere else.

import t from 'tap'
import { addKey, jsonOf, openWorld, type World } from '../api/world.ts'
import { until } from '../support/until.ts'

const path = '/api/projects/1/feature_flags/'
const hidden = '"********* (encrypted)"'
const secret = '{"token": "hunter2"}'

const encrypted = (more: object = {}) => ({
  key: 'limits',
  is_remote_configuration: true,
  has_encrypted_payloads: true,
  filters: { groups: [{}], payloads: { true: secret } },
  ...more,
})

async function made(world: World, flag: object): Promise<string> {
  const reply = await world.send('POST', path, flag)
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return `${path}${jsonOf(reply).id}/`
}

/** What remote_config answers once the server has heard of the change. */
async function configIs(world: World, expected: string): Promise<void> {
  await until(async () => (await world.get(`${path}limits/remote_config`)).text === expected)
}

/** Everything of the database that is text. */
async function dump({ postgres }: World): Promise<string> {
  const texts: string[] = []
  for (const table of ['feature_flag', 'feature_flag_payload', 'organization_activity']) {
    const { rows } = await postgres.query<{ text: string }>(
      `select to_jsonb(t)::text as text from ${table} t`,
    )
    texts.push(...rows.map(({ text }) => text))
  }
  return texts.join('\n')
}

t.test('a payload is told to remote_config, and to nobody else', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_flags', 1, { scopes: ['feature_flag:read'] })
  await addKey(world.postgres, 'phx_persons', 1, { scopes: ['person:read'] })
  const item = await made(world, encrypted())
  await configIs(world, JSON.stringify(secret))
  const config = `${path}limits/remote_config`
  t.equal((await world.get(config, 'phx_flags')).text, JSON.stringify(secret))
  t.equal((await world.get(config, 'phx_persons')).status, 403)
  for (const shown of [item, path, `${item}activity/`, '/flags/definitions?token=phc_1&send_cohorts']) {
    const reply = await world.get(shown)
    t.equal(reply.status, 200)
    t.notMatch(reply.text, 'hunter2', shown)
  }
  t.same(jsonOf(await world.get(item)).filters.payloads, { true: hidden })
  t.notMatch(await dump(world), 'hunter2')
})

t.test('what is sent back as it was shown stays', async (t) => {
  const world = await openWorld(t)
  const item = await made(world, encrypted())
  const { filters } = jsonOf(await world.get(item))
  for (const change of [{ name: 'Limits' }, { filters }, { filters: { early_exit: true } }]) {
    t.equal((await world.send('PATCH', item, change)).status, 200)
  }
  await configIs(world, JSON.stringify(secret))
  const payloads = { true: '7' }
  const reply = await world.send('PATCH', item, { filters: { payloads } })
  t.same(jsonOf(reply).filters.payloads, { true: hidden })
  await configIs(world, '"7"')
  const { results } = jsonOf(await world.get(`${item}activity/`))
  t.same(results[0].detail.changes, [{ field: 'payloads', before: hidden, after: hidden }])
  await world.send('PATCH', item, { filters: { payloads: {} } })
  await configIs(world, 'null')
  const { rows } = await world.postgres.query('select from feature_flag_payload')
  t.equal(rows.length, 0)
  const missing = await world.send('PATCH', item, { filters: { payloads: { true: hidden } } })
  t.equal(missing.status, 400)
  t.match(jsonOf(missing), { code: 'invalid_input', attr: 'filters' })
})

t.test('a flag may begin to encrypt its payload, and cease once it is sent again', async (t) => {
  const world = await openWorld(t)
  const item = await made(world, encrypted({ has_encrypted_payloads: false }))
  t.same(jsonOf(await world.get(item)).filters.payloads, { true: secret })
  await world.send('PATCH', item, { has_encrypted_payloads: true })
  t.same(jsonOf(await world.get(item)).filters.payloads, { true: hidden })
  await configIs(world, JSON.stringify(secret))
  const refused = await world.send('PATCH', item, { has_encrypted_payloads: false })
  t.equal(refused.status, 400)
  t.match(jsonOf(refused), { code: 'invalid_input', attr: 'has_encrypted_payloads' })
  const shown = { has_encrypted_payloads: false, filters: { payloads: { true: '8' } } }
  t.same(jsonOf(await world.send('PATCH', item, shown)).filters.payloads, { true: '8' })
  await configIs(world, '"8"')
  t.equal((await world.postgres.query('select from feature_flag_payload')).rowCount, 0)
})

t.test('an early access feature changes its flag without a look at its payloads', async (t) => {
  const world = await openWorld(t)
  const item = await made(world, encrypted())
  const flagId = jsonOf(await world.get(item)).id
  const feature = { name: 'Limits', stage: 'beta', feature_flag_id: flagId }
  t.equal((await world.send('POST', '/api/projects/1/early_access_feature/', feature)).status, 201)
  t.ok(jsonOf(await world.get(item)).filters.super_groups)
  await configIs(world, JSON.stringify(secret))
})

t.test('a payload that was sealed for another flag does not open', async (t) => {
  const world = await openWorld(t)
  await made(world, encrypted())
  await made(world, encrypted({ key: 'other', filters: { groups: [{}], payloads: { true: '"of other"' } } }))
  await configIs(world, JSON.stringify(secret))
  await world.postgres.query(
    `update feature_flag_payload set payload = (select payload from feature_flag_payload where flag_id = 2)
     where flag_id = 1`,
  )
  const reply = await world.get(`${path}limits/remote_config`)
  t.equal(reply.status, 500)
  t.match(jsonOf(reply), { code: 'secret_unreadable' })
})
