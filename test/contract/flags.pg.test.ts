// POST /flags: how it may be asked, what it answers, and what is stored that it heeds.

import { gzipSync } from 'node:zlib'
import LZString from 'lz-string'
import t from 'tap'
import { databaseOf, defineFlags, heard } from '../support/definitions.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const server = await startServer(t)
const postgres = databaseOf(t, server)
const { projectApiKey } = server
const plan = { key: 'plan', value: 'pro', operator: 'exact', type: 'person' }
const groupPlan = { key: 'plan', value: 'enterprise', type: 'group', group_type_index: 0 }

await postgres.query(
  `insert into cohort (id, project_id, name, is_static, filters) overriding system value
   values (70, 1, 'list', true, '{}')`,
)
await defineFlags(server, postgres, [
  { key: 'everyone', filters: { groups: [{}], payloads: { true: 'P' } } },
  { key: 'pro', filters: { groups: [{ properties: [plan] }] } },
  { key: 'listed', filters: { groups: [{ properties: [{ key: 'id', value: 70, type: 'cohort' }] }] } },
  {
    key: 'company',
    filters: { aggregation_group_type_index: 0, groups: [{ properties: [groupPlan] }] },
  },
  { key: 'server-only', filters: { groups: [{}] }, evaluationRuntime: 'server' },
  { key: 'tagged', filters: { groups: [{}] }, evaluationTags: ['checkout'] },
  { key: 'survey-targeting-1', filters: { groups: [{}] } },
])

interface Flags {
  readonly flags: Record<string, { enabled: boolean; reason: { code: string } }>
  readonly errorsWhileComputingFlags: boolean
}

async function ask(more: object, query = '?v=2', headers = {}): Promise<Flags> {
  const body = { token: projectApiKey, distinct_id: 'user1', ...more }
  const reply = await server.post(`/flags/${query}`, body, headers)
  t.equal(reply.status, 200, reply.text)
  return JSON.parse(reply.text)
}

/** Keys of the flags that are on. */
async function on(more: object, query = '?v=2', headers = {}): Promise<string[]> {
  const { flags } = await ask(more, query, headers)
  return Object.keys(flags).filter((key) => flags[key]!.enabled)
}

const always = ['everyone', 'server-only', 'tagged', 'survey-targeting-1']

t.test('a body may be packed in every way that SDKs have used (cases 100, 101)', async (t) => {
  const text = JSON.stringify({
    token: projectApiKey,
    distinct_id: 'packed',
    person_properties: { plan: 'pro' },
  })
  const base64 = Buffer.from(text).toString('base64')
  const zipped = gzipSync(text)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const plain = { 'content-type': 'text/plain' }
  const ways: [string, string | Buffer, string, Record<string, string>][] = [
    ['plain', text, '?v=2', {}],
    ['text/plain', text, '?v=2', plain],
    ['no type', text, '?v=2', { 'content-type': '' }],
    ['gzip by header', zipped, '?v=2', { 'content-encoding': 'gzip' }],
    ['gzip by query', zipped, '?v=2&compression=gzip', plain],
    ['gzip-js by query', zipped, '?v=2&compression=gzip-js', plain],
    ['gzip by its first bytes', zipped, '?v=2', plain],
    ['base64 by query', base64, '?v=2&compression=base64', plain],
    ['form', `data=${encodeURIComponent(base64)}`, '?v=2', form],
    ['form and compression', `data=${encodeURIComponent(base64)}&compression=base64`, '?v=2', form],
    ['lz64', LZString.compressToBase64(text), '?v=2&compression=lz64', plain],
    [
      'form of lz64',
      `data=${encodeURIComponent(LZString.compressToBase64(text))}`,
      '?v=2&compression=lz64',
      form,
    ],
  ]
  t.match(encodeURIComponent(base64), /%3D$/)
  for (const [name, sent, query, headers] of ways) {
    const reply = await server.post(`/flags/${query}`, sent, headers)
    t.equal(reply.status, 200, `${name}: ${reply.text}`)
    const { flags, requestId, evaluatedAt } = JSON.parse(reply.text)
    t.match(flags, { pro: { enabled: true } }, name)
    t.match(requestId, /^[0-9a-f-]{36}$/)
    t.equal(evaluatedAt, 1_714_564_800_000)
  }
})

t.test('an id may be a number, empty, and is cut to 200 characters (case 102)', async (t) => {
  const filters = (id: string) => ({ groups: [{ properties: [{ key: 'distinct_id', value: id }] }] })
  await defineFlags(server, postgres, [
    { key: 'is-8675309', filters: filters('8675309') },
    { key: 'is-200', filters: filters('🦔'.repeat(200)) },
  ])
  t.ok((await on({ distinct_id: 8675309 })).includes('is-8675309'))
  t.ok((await on({ distinct_id: '🦔'.repeat(210) })).includes('is-200'))
  t.notOk((await on({ distinct_id: '🦔'.repeat(199) })).includes('is-200'))
  t.same(await on({ distinct_id: '' }), [])
  for (const text of ['12345678901234567890', '1.0', '-1e3']) {
    await defineFlags(server, postgres, [{ key: `is-${text.length}`, filters: filters(text) }])
    const body = `{"token":"${projectApiKey}", "distinct_id" : ${text} }`
    const reply = await server.post('/flags/?v=2', body)
    t.ok(JSON.parse(reply.text).flags[`is-${text.length}`].enabled, `${text} is not read as a number`)
    await server.post('/capture/', `{"api_key":"${projectApiKey}","event":"page","distinct_id":${text}}`)
    const [event] = await server.storedEvents({ distinct_id: text })
    t.equal(event?.distinct_id, text, 'nor by capture')
  }
  await postgres.query(`delete from feature_flag where key like 'is-%'`)
  await heard(server, postgres)
})

t.test("what Python's json writes for no number is null (case 103)", async (t) => {
  const odd = '"a":NaN,"b":[Infinity,-Infinity],"NaN":"-Infinity \\" NaN"'
  const body = `{"token":"${projectApiKey}","distinct_id":"NaN","person_properties":{"plan":"pro",${odd}}}`
  const reply = await server.post('/flags/?v=2', body)
  t.equal(reply.status, 200)
  t.match(JSON.parse(reply.text).flags, { pro: { enabled: true } })
})

t.test('bytes that are no text are read as U+FFFD', async (t) => {
  const [before, after] = [
    '{"token":"',
    `${projectApiKey}","distinct_id":"u","person_properties":{"plan":"pro","x":"`,
  ]
  const body = Buffer.concat([Buffer.from(before + after), Buffer.from([0xff, 0xc3]), Buffer.from('"}}')])
  for (const sent of [body, gzipSync(body)]) {
    const reply = await server.post('/flags/?v=2', sent)
    t.equal(reply.status, 200, reply.text)
    t.match(JSON.parse(reply.text).flags, { pro: { enabled: true } })
  }
  t.equal((await server.post('/decide/?v=3', body)).status, 400)
})

t.test('what would take long to read is refused', async (t) => {
  const many = (count: number): string =>
    `{"token":"${projectApiKey}","distinct_id":"u","flag_keys":[${'"a",'.repeat(count)}"pro"]}`
  t.equal((await server.post('/flags/?v=2', many(19_990))).status, 200)
  const reply = await server.post('/flags/?v=2', many(20_000))
  t.equal(reply.status, 400)
  t.equal(
    reply.text,
    'Failed to decode request: Malformed request data: it has more than 20000 brackets, commas and colons',
  )
})

t.test('another content type is refused (case 104)', async (t) => {
  const reply = await server.post('/flags/?v=2', '{}', { 'content-type': 'application/xml' })
  t.equal(reply.status, 400)
  t.match(reply.headers.get('content-type'), /^text\/plain/)
  t.equal(reply.text, 'Failed to decode request: unsupported content type')
})

t.test('who asks is refused in JSON, what is asked in text (case 105)', async (t) => {
  const unknown = await server.post('/flags/?v=2', { token: 'phc_nobody', distinct_id: 'u' })
  t.equal(unknown.status, 401)
  t.match(JSON.parse(unknown.text), {
    type: 'authentication_error',
    code: 'authentication_failed',
    attr: null,
  })
  const nobody = await server.post('/flags/?v=2', { distinct_id: 'u' })
  t.equal(nobody.status, 401)
  t.match(JSON.parse(nobody.text), { code: 'not_authenticated' })
  for (const sent of ['{', { token: projectApiKey }]) {
    const reply = await server.post('/flags/?v=2', sent)
    t.equal(reply.status, 400)
    t.match(reply.headers.get('content-type'), /^text\/plain/)
    t.match(reply.text, /^Failed to decode request: /)
  }
  const large = await server.post('/flags/?v=2', Buffer.alloc(1024 * 1024 + 1, ' '))
  t.equal(large.status, 413)
  t.match(large.headers.get('content-type'), /^text\/plain/)
})

t.test('a body that inflates beyond the limit is too large', async (t) => {
  const bomb = gzipSync(Buffer.alloc(1024 * 1024 + 1, ' '))
  const flags = await server.post('/flags/?v=2', bomb)
  t.equal(flags.status, 413)
  t.match(flags.headers.get('content-type'), /^text\/plain/)
  const decide = await server.post('/decide/?v=3', bomb)
  t.equal(decide.status, 413)
  t.match(JSON.parse(decide.text), { type: 'invalid_request', code: 'request_too_large', attr: null })
})

t.test('the version and config choose the shape', async (t) => {
  const shapes: [string, string, boolean][] = [
    ['', 'flags', true],
    ['?v=2', 'flags', false],
    ['?v=3', 'flags', false],
    ['?v=2&config=true', 'flags', true],
    ['?v=1', 'featureFlags', false],
    ['?v=1&config=true', 'featureFlags', true],
    ['?config=true', 'featureFlags', true],
    ['?config=false', 'featureFlags', false],
  ]
  for (const [query, name, hasConfig] of shapes) {
    const answer: object = await ask({}, query)
    t.equal(name in answer, true, query)
    t.equal('supportedCompression' in answer, hasConfig, query)
    t.equal('featureFlagPayloads' in answer, name === 'featureFlags', query)
  }
})

t.test('a request may be about some of the flags only', async (t) => {
  t.same(await on({}), always)
  t.same(await on({ flag_keys_to_evaluate: ['everyone', 'nothing'] }), ['everyone'])
  t.same(await on({ flag_keys: [] }), [])
  t.same(await on({ flag_keys: null }), always)
  t.same(await on({}, '?v=2&only_evaluate_survey_feature_flags=true'), ['survey-targeting-1'])
  t.same(await on({ evaluation_runtime: 'client' }), ['everyone', 'tagged', 'survey-targeting-1'])
  t.same(await on({ evaluation_runtime: 'server' }), always)
  t.same(await on({}, '?v=2', { origin: 'https://shop.example' }), [
    'everyone',
    'tagged',
    'survey-targeting-1',
  ])
  const clients = ['everyone', 'tagged', 'survey-targeting-1']
  for (const name of ['ios/3.1.0', 'android/3.4.2', 'react-native/4.0.0', 'flutter/5.0.0'])
    t.same(await on({}, '?v=2', { 'user-agent': `posthog-${name}` }), clients, name)
  t.same(await on({}, '?v=2', { 'user-agent': 'posthog-python/6.0.0' }), always)
  t.same(await on({ evaluation_contexts: ['docs'] }), ['everyone', 'server-only', 'survey-targeting-1'])
  t.same(await on({ evaluation_environments: ['docs', 'checkout'] }), always)
  t.same(await on({ evaluation_contexts: [] }), always)
  t.same((await ask({ disable_flags: true })).flags, {})
})

t.test('stored properties of the person count, and those of the request go before them', async (t) => {
  const set = { $set: { plan: 'pro' } }
  const event = { event: '$identify', distinct_id: 'stored', properties: set }
  await server.post('/capture/', { api_key: projectApiKey, ...event })
  await server.settled()
  t.same(await on({ distinct_id: 'stored' }), ['everyone', 'pro', ...always.slice(1)])
  t.same(await on({ distinct_id: 'stored', person_properties: { plan: 'free' } }), always)
  t.same(await on({ distinct_id: 'stored', $properties: { other: 1 } }), [
    'everyone',
    'pro',
    ...always.slice(1),
  ])
  t.same(await on({ distinct_id: 'never seen' }), always)
})

t.test('a static cohort is its list', async (t) => {
  await server.post('/capture/', {
    api_key: projectApiKey,
    event: '$identify',
    distinct_id: 'on-list',
    properties: {},
  })
  await server.settled()
  t.notOk((await on({ distinct_id: 'on-list' })).includes('listed'))
  await postgres.query(
    `insert into cohort_person (project_id, cohort_id, person_uuid)
     select 1, 70, person_uuid from person_distinct_id where project_id = 1 and distinct_id = 'on-list'`,
  )
  t.ok((await on({ distinct_id: 'on-list' })).includes('listed'))
  t.notOk((await on({ distinct_id: 'off-list' })).includes('listed'))
})

t.test('a group is found by its key, with its stored properties or those of the request', async (t) => {
  const asked = { groups: { company: 'acme', unknown: 'x' } }
  t.equal((await ask({})).flags.company?.reason.code, 'no_group_type')
  const group = { $group_type: 'company', $group_key: 'acme', $group_set: { plan: 'enterprise' } }
  await server.post('/capture/', {
    api_key: projectApiKey,
    event: '$groupidentify',
    distinct_id: '$company_acme',
    properties: group,
  })
  await server.settled()
  await until(async () => (await ask(asked)).flags.company?.reason.code !== 'no_group_type')
  t.ok((await on(asked)).includes('company'))
  t.notOk((await on({ $groups: { company: 'other' } })).includes('company'))
  t.ok(
    (await on({ groups: { company: 7 }, group_properties: { company: { plan: 'enterprise' } } })).includes(
      'company',
    ),
  )
  t.notOk((await on({ ...asked, $group_properties: { company: { plan: 'free' } } })).includes('company'))
  t.equal((await ask({ groups: { company: '' } })).flags.company?.reason.code, 'no_group_type')
})

t.test('a flag that keeps its value keeps the one from before the person was known', async (t) => {
  await defineFlags(server, postgres, [
    { key: 'kept', filters: { groups: [{ rollout_percentage: 50 }] }, ensureExperienceContinuity: true },
  ])
  const isOn = async (more: object): Promise<boolean> => (await on(more)).includes('kept')
  // SHA-1 of "kept.<id>": anon-2 0.4406, user-2 0.9451.
  t.equal(await isOn({ distinct_id: 'anon-2' }), true)
  t.equal(await isOn({ distinct_id: 'user-2' }), false)
  t.equal(await isOn({ distinct_id: 'user-2', $anon_distinct_id: 'anon-2' }), true)
  t.equal(await isOn({ distinct_id: 'user-2' }), true, 'later requests too')
  t.equal(await isOn({ distinct_id: 'user-2', $anon_distinct_id: 'user-2' }), true)
  t.equal(await isOn({ distinct_id: 'user-2', person_properties: { $anon_distinct_id: 'other' } }), true)
  const { rows } = await postgres.query('select distinct_id, flag_key, hash_key from flag_hash_key_override')
  t.same(rows, [{ distinct_id: 'user-2', flag_key: 'kept', hash_key: 'anon-2' }], 'the first stays')
})

t.test('whoever only looks is told that it works', async (t) => {
  const reply = await fetch(`${server.url}/flags/?v=2`)
  t.equal(reply.status, 200)
  t.match(await reply.json(), { flags: {}, errorsWhileComputingFlags: false, isAuthenticated: false })
  t.equal((await fetch(`${server.url}/flags`, { method: 'HEAD' })).status, 200)
  t.equal((await fetch(`${server.url}/flags`, { method: 'DELETE' })).status, 405)
})

t.test('a project over its quota gets no flags, and is told why', async (t) => {
  await postgres.query('update project set monthly_event_quota = 0 where id = 1')
  await until(async () => 'quotaLimited' in (await ask({})))
  for (const [path, name] of [
    ['/flags/?v=2', 'flags'],
    ['/decide/?v=3', 'featureFlags'],
  ] as const) {
    const reply = await server.post(path, { api_key: projectApiKey })
    t.equal(reply.status, 200)
    t.match(JSON.parse(reply.text), {
      quotaLimited: ['feature_flags'],
      errorsWhileComputingFlags: false,
      [name]: {},
    })
    t.same(JSON.parse(reply.text)[name], {})
  }
})
