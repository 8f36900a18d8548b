// POST /decide: its four shapes, its settings, and what it refuses.

import t from 'tap'
import { databaseOf, defineFlags } from '../support/definitions.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const server = await startServer(t)
const postgres = databaseOf(t, server)
const { projectApiKey } = server
const body = { api_key: projectApiKey, distinct_id: 'user1' }
const two = {
  variants: [
    { key: 'control', rollout_percentage: 50 },
    { key: 'test', rollout_percentage: 50 },
  ],
}
const [onId] = await defineFlags(server, postgres, [
  { key: 'on', filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '{"a": 1}' } } },
  { key: 'off', filters: { groups: [{ rollout_percentage: 0 }], payloads: { true: 'never' } } },
  { key: 'beta-feature', filters: { groups: [{}], multivariate: two, payloads: { test: 'T' } } },
  { key: 'inactive', filters: { groups: [{}] }, active: false },
  { key: 'secret', filters: { groups: [{}], payloads: { true: 'sealed' } }, hasEncryptedPayloads: true },
])

async function decide(query: string, more: object = {}): Promise<Record<string, unknown>> {
  const reply = await server.post(`/decide/${query}`, { ...body, ...more })
  t.equal(reply.status, 200, reply.text)
  t.equal(reply.headers.get('content-type'), 'application/json')
  return JSON.parse(reply.text)
}

const settings = {
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
  supportedCompression: ['gzip', 'gzip-js', 'lz64'],
  sessionRecording: false,
  captureDeadClicks: false,
  capturePerformance: { network_timing: true, web_vitals: false, web_vitals_allowed_metrics: null },
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  analytics: { endpoint: '/i/v0/e/' },
  elementsChainAsString: true,
  surveys: false,
  heatmaps: false,
  defaultIdentifiedOnly: true,
  siteApps: [],
  flagsPersistenceDefault: false,
}

t.test('version 3 has every documented key, and flags that are off too (case 95)', async (t) => {
  const { requestId, evaluatedAt, ...answer } = await decide('?v=3')
  t.match(requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  t.equal(evaluatedAt, 1_714_564_800_000)
  t.same(answer, {
    ...settings,
    featureFlags: { on: true, off: false, 'beta-feature': 'test', secret: true },
    featureFlagPayloads: { on: '{"a": 1}', 'beta-feature': 'T' },
    errorsWhileComputingFlags: false,
  })
})

t.test('the older versions list what is on, the newer one says why (case 96)', async (t) => {
  for (const query of ['', '?v=1', '?v=0', '?v=-3', '?v=']) {
    const { featureFlags, ...rest } = await decide(query)
    t.same(featureFlags, ['on', 'beta-feature', 'secret'], query)
    t.match(rest, settings)
    t.notOk('errorsWhileComputingFlags' in rest)
  }
  for (const query of ['?v=2', '?v=2.5', '?v=x', '?v=99999999999']) {
    const { featureFlags, ...rest } = await decide(query)
    t.same(featureFlags, { on: true, 'beta-feature': 'test', secret: true }, query)
    t.notOk('featureFlagPayloads' in rest)
  }
  for (const query of ['?v=4', '?v=5']) {
    const { flags, errorsWhileComputingFlags } = await decide(query)
    t.equal(errorsWhileComputingFlags, false)
    t.same(Object.keys(flags as object), ['on', 'off', 'beta-feature', 'secret'])
    t.match(flags, {
      on: {
        key: 'on',
        enabled: true,
        variant: null,
        reason: { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
        metadata: { id: onId, version: 1, description: null, payload: '{"a": 1}' },
      },
      off: { enabled: false, variant: null, reason: { code: 'out_of_rollout_bound', condition_index: 0 } },
      'beta-feature': { enabled: true, variant: 'test', metadata: { payload: 'T' } },
      secret: { enabled: true, metadata: { payload: null } },
    })
  }
})

t.test('/decide without slash is the same, and so are the other names of the key', async (t) => {
  for (const name of ['token', 'api_key', '$token']) {
    const reply = await server.post('/decide?v=2', { [name]: ` ${projectApiKey}\n`, distinct_id: 'user1' })
    t.match(JSON.parse(reply.text).featureFlags, { on: true }, name)
  }
})

/** Status and body of what is refused. */
async function refused(sent: unknown, query = '?v=3'): Promise<unknown> {
  const reply = await server.post(`/decide/${query}`, sent)
  return [reply.status, JSON.parse(reply.text)]
}

t.test('without a known key there is no answer (case 97)', async (t) => {
  const missing = {
    type: 'authentication_error',
    code: 'no_api_key',
    detail: 'No project API key provided.',
    attr: null,
  }
  for (const key of [undefined, null, '', ' ', 5, {}]) {
    t.same(await refused({ api_key: key, distinct_id: 'u' }), [401, missing], JSON.stringify(key))
  }
  const invalid = {
    type: 'authentication_error',
    code: 'invalid_api_key',
    detail: 'Project API key invalid.',
    attr: null,
  }
  for (const key of ['phc_nobody', server.personalApiKey, 'x'.repeat(65), 'phc_\0', 'ключ', '__proto__']) {
    t.same(await refused({ api_key: key, distinct_id: 'u' }), [401, invalid], JSON.stringify(key))
  }
  const personal = { api_key: server.personalApiKey, project_id: 1, distinct_id: 'u' }
  t.match(await refused(personal), [401, { code: 'invalid_personal_key' }])
})

t.test(
  'without a distinct_id there is nobody to decide for, unless no flag is wanted (case 98)',
  async (t) => {
    const missing = {
      type: 'validation_error',
      code: 'missing_distinct_id',
      detail: 'Decide requires a distinct_id.',
      attr: null,
    }
    for (const id of [undefined, null, {}, [], true]) {
      t.same(await refused({ api_key: projectApiKey, distinct_id: id }), [400, missing], JSON.stringify(id))
    }
    const answer = await decide('?v=3', { distinct_id: null, disable_flags: true })
    t.match(answer, { ...settings, errorsWhileComputingFlags: false })
    t.same(answer.featureFlags, {})
    t.same(answer.featureFlagPayloads, {})
  },
)

t.test('what is no object of JSON is refused as such (case 99)', async (t) => {
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '5',
    '{"a":1}}',
    '\xff',
    `${'['.repeat(70)}${']'.repeat(70)}`,
    Buffer.from([0xff]),
  ]
  for (const sent of bodies) {
    const [status, error] = (await refused(sent)) as [number, { detail: string }]
    t.equal(status, 400)
    t.match(error, { type: 'validation_error', code: 'malformed_data', attr: null })
    t.match(error.detail, /^Malformed request data: /)
  }
})

t.test('a body over the limit is refused, one at it is not', async (t) => {
  const padded = (size: number): string => {
    const start = `{"api_key":"${projectApiKey}","distinct_id":"u","x":"`
    return `${start}${'x'.repeat(size - start.length - 2)}"}`
  }
  t.equal((await server.post('/decide/', padded(1024 * 1024))).status, 200)
  const reply = await server.post('/decide/', padded(1024 * 1024 + 1))
  t.equal(reply.status, 413)
  t.match(JSON.parse(reply.text), { code: 'request_too_large' })
})

t.test('it is asked by POST only, from anywhere', async (t) => {
  const url = `${server.url}/decide/?v=3`
  const origin = 'https://shop.example'
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const reply = await fetch(url, { method, headers: { origin } })
    t.equal(reply.status, 405)
    t.equal(reply.headers.get('allow'), 'POST, OPTIONS')
    t.equal(reply.headers.get('access-control-allow-origin'), origin)
  }
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin } })
  t.equal(preflight.status, 200)
  t.same(await preflight.json(), { status: 1 })
  t.equal(preflight.headers.get('access-control-allow-origin'), origin)
  const reply = await server.post('/decide/?v=3', body, { origin })
  t.equal(reply.headers.get('access-control-allow-origin'), origin)
  t.equal(reply.headers.get('access-control-allow-credentials'), 'true')
})

t.test('settings of the project are told at once after a change', async (t) => {
  await postgres.query(
    `update project set heatmaps_opt_in = true, autocapture_opt_out = true, flags_persistence_default = true,
       autocapture_exceptions_opt_in = true, capture_performance_opt_in = false,
       autocapture_web_vitals_opt_in = true, autocapture_web_vitals_allowed_metrics = '["CLS"]',
       session_recording_opt_in = true, surveys_opt_in = true where id = 1`,
  )
  await until(async () => (await decide('?v=3')).heatmaps === true)
  t.match(await decide('?v=3'), {
    heatmaps: true,
    autocapture_opt_out: true,
    flagsPersistenceDefault: true,
    autocaptureExceptions: { endpoint: '/e/' },
    capturePerformance: { network_timing: false, web_vitals: true, web_vitals_allowed_metrics: ['CLS'] },
    sessionRecording: false,
    surveys: false,
  })
})
