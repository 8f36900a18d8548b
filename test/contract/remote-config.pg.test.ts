// What browsers fetch with the project API key in the address.

import t from 'tap'
import { databaseOf, defineFlags, heard } from '../support/definitions.ts'
import { startServer } from '../support/server.ts'

const server = await startServer(t)
const postgres = databaseOf(t, server)
const { projectApiKey } = server
const origin = 'https://shop.example'

async function fetched(path: string) {
  const reply = await fetch(`${server.url}${path}`, { headers: { origin } })
  t.equal(reply.headers.get('access-control-allow-origin'), origin, path)
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() }
}

t.test('settings come as JSON and as a script', async (t) => {
  const json = await fetched(`/array/${projectApiKey}/config`)
  t.equal(json.status, 200)
  t.equal(json.type, 'application/json')
  const config = {
    token: projectApiKey,
    hasFeatureFlags: false,
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
    errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  }
  t.same(JSON.parse(json.text), config)
  const script = await fetched(`/array/${projectApiKey}/config.js`)
  t.equal(script.type, 'text/javascript; charset=utf-8')
  const window: { _POSTHOG_REMOTE_CONFIG?: Record<string, unknown> } = {}
  new Function('window', script.text)(window)
  t.same(window._POSTHOG_REMOTE_CONFIG?.[projectApiKey], { config, siteApps: [] })
})

t.test('they say whether there are flags to ask for', async (t) => {
  await defineFlags(server, postgres, [{ key: 'idle', filters: { groups: [{}] }, active: false }])
  const hasFlags = async () =>
    JSON.parse((await fetched(`/array/${projectApiKey}/config`)).text).hasFeatureFlags
  t.equal(await hasFlags(), false)
  await defineFlags(server, postgres, [{ key: 'first', filters: { groups: [{}] } }])
  t.equal(await hasFlags(), true)
})

t.test('of a key that nobody has there are none', async (t) => {
  for (const key of ['phc_nobody', '%00', server.personalApiKey, '__proto__']) {
    const reply = await fetched(`/array/${key}/config`)
    t.same([reply.status, reply.text], [404, ''], key)
    t.equal((await fetched(`/array/${key}/config.js`)).status, 404, key)
  }
})

t.test('scripts that this server does not have are not found', async (t) => {
  for (const path of ['/static/recorder.js?v=1.2.3', '/static/1.2.3/surveys.js', '/array/x/array.js']) {
    t.equal((await fetched(path)).status, 404, path)
  }
})

t.test('lists of what this server does not have are empty', async (t) => {
  const lists = {
    '/api/surveys/': { surveys: [], survey_config: null },
    '/api/web_experiments/': { experiments: [] },
    '/api/product_tours/': { product_tours: [] },
  }
  for (const [path, list] of Object.entries(lists)) {
    const reply = await fetched(`${path}?token=${projectApiKey}`)
    t.equal(reply.status, 200)
    t.same(JSON.parse(reply.text), list)
    t.match(JSON.parse((await fetched(path)).text), { code: 'no_api_key' })
    t.equal((await fetched(path)).status, 401)
    t.equal((await fetched(`${path}?token=phc_nobody`)).status, 401)
  }
})

t.test('early access features are told by stage, drafts and archived ones never', async (t) => {
  const [id] = await defineFlags(server, postgres, [{ key: 'early', filters: { groups: [] } }])
  const stages = ['draft', 'concept', 'alpha', 'beta', 'general-availability', 'archived']
  await postgres.query(
    `insert into early_access_feature (id, project_id, flag_id, name, description, stage, documentation_url)
     select ('00000000-0000-4000-8000-00000000000' || n)::uuid, 1, case when stage = 'beta' then $1::integer end,
       'F ' || stage, 'about', stage, 'https://docs.example' from unnest($2::text[]) with ordinality as s (stage, n)`,
    [id, stages],
  )
  await heard(server, postgres)
  const listed = async (query: string): Promise<unknown[]> => {
    const reply = await fetched(`/api/early_access_features/?token=${projectApiKey}${query}`)
    t.equal(reply.status, 200, reply.text)
    return JSON.parse(reply.text).earlyAccessFeatures
  }
  t.same(await listed(''), [
    {
      id: '00000000-0000-4000-8000-000000000004',
      name: 'F beta',
      description: 'about',
      stage: 'beta',
      documentationUrl: 'https://docs.example',
      flagKey: 'early',
    },
  ])
  t.match(await listed('&stage=alpha&stage=concept'), [{ stage: 'concept' }, { stage: 'alpha' }])
  t.same(await listed('&stage=draft&stage=archived&stage=x'), [])
  t.equal((await fetched('/api/early_access_features/')).status, 401)
})
