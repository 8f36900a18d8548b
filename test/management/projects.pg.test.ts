import t from 'tap'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { fullForm, shortForm } from './project-forms.ts'

const nested = `/api/organizations/${ids.ours}/projects/`

const own = { id: 1, api_token: 'phc_1' }

async function stored(world: World, id: number): Promise<object | undefined> {
  return (await world.postgres.query('select * from project where id = $1', [id])).rows[0]
}

t.test('lists the short form', async (t) => {
  const world = await openWorld(t)
  const page = jsonOf(await world.get(nested))
  t.equal(page.count, 2)
  const { uuid, ...first } = page.results[0]
  t.match(uuid, /^[0-9a-f-]{36}$/)
  t.strictSame(first, { ...shortForm, ...own })
  const all = jsonOf(await world.get('/api/projects/'))
  t.strictSame(all.results, page.results)
  await addKey(world.postgres, 'phx_second', 1, { projects: [2, 3] })
  t.match(jsonOf(await world.get('/api/projects/', 'phx_second')), { count: 1, results: [{ id: 2 }] })
  t.equal((await world.get(nested, 'phx_second')).status, 403)
})

t.test('shows the full form on every way to a project', async (t) => {
  const world = await openWorld(t)
  const paths = [`${nested}1/`, `${nested}@current/`, '/api/projects/1/', '/api/projects/@current']
  for (const path of paths) {
    const reply = await world.get(path)
    t.equal(reply.status, 200, path)
    const { uuid, created_at, updated_at, live_events_token, ...project } = jsonOf(reply)
    t.strictSame(sorted(project), sorted({ ...fullForm, ...own, effective_membership_level: 1 }))
    t.match(created_at, /Z$/)
    t.match(updated_at, /Z$/)
    const [head, claims, signature] = live_events_token.split('.')
    t.strictSame(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'HS256', typ: 'JWT' })
    t.strictSame(JSON.parse(Buffer.from(claims, 'base64url').toString()), {
      team_id: 1,
      api_token: 'phc_1',
      exp: 1_715_169_600,
      aud: 'posthog:livestream',
    })
    t.equal(Buffer.from(signature, 'base64url').length, 32)
  }
})

function sorted(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}

t.test('does not find a project of another organization', async (t) => {
  const world = await openWorld(t)
  for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
    for (const path of [`${nested}3/`, `${nested}x/`, `${nested}99999999999/`, '/api/projects/3/']) {
      const reply = await (method === 'GET' || method === 'DELETE'
        ? world.get(path, 'phx_owner', method)
        : world.send(method, path, { name: 'x' }))
      t.equal(reply.status, 404, `${method} ${path}`)
    }
  }
  t.match(await stored(world, 3), { name: 'Default project' })
  t.equal((await world.get(`/api/organizations/${ids.theirs}/projects/3/`)).status, 403)
})

t.test('makes a project and takes its maker there', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', nested, { name: 'Test', app_urls: ['https://a.b', null, ''] })
  t.equal(reply.status, 201)
  const made = jsonOf(reply)
  t.match(made, { id: 4, name: 'Test', organization: ids.ours, api_token: /^phc_\w{40,}$/ })
  t.strictSame(made.app_urls, ['https://a.b'])
  t.strictSame(made.test_account_filters, [
    { key: 'email', type: 'person', value: '@spate.example', operator: 'not_icontains' },
    { key: '$host', type: 'event', value: '^(localhost|127\\.0\\.0\\.1)($|:)', operator: 'not_regex' },
  ])
  t.match(jsonOf(await world.send('POST', nested, {})), { name: 'Default project' })
  t.equal((await world.send('POST', nested, {}, 'phx_member')).status, 403)
  const { rows } = await world.postgres.query('select current_project_id from app_user where id = 3')
  t.same(rows, [{ current_project_id: 5 }])
  t.match(jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/?scope=Project`)), { count: 2 })
})

t.test('refuses what does not fit, and stores nothing', async (t) => {
  const world = await openWorld(t)
  const before = await stored(world, 1)
  const linkedFlag = 'session_recording_linked_flag'
  const cases: [field: string, value: unknown, code: string, attr?: string][] = [
    ['name', '', 'blank'],
    ['name', null, 'null'],
    ['name', 'a'.repeat(201), 'max_length'],
    ['app_urls', 'https://a.b', 'not_a_list'],
    ['app_urls', [{}], 'invalid_input', 'app_urls__0'],
    ['slack_incoming_webhook', 'x', 'invalid_input'],
    ['slack_incoming_webhook', 'http://127.0.0.1/hook', 'invalid_input'],
    ['slack_incoming_webhook', 'http://169.254.169.254/latest', 'invalid_input'],
    ['anonymize_ips', null, 'null'],
    ['test_account_filters', 'text', 'invalid_input'],
    ['timezone', 'America/I_Dont_Exist', 'invalid_choice'],
    ['timezone', '+01:00', 'invalid_choice'],
    ['timezone', 'europe/berlin', 'invalid_choice'],
    ['person_display_name_properties', ['a'.repeat(401)], 'max_length', 'person_display_name_properties__0'],
    ['session_recording_sample_rate', 'half', 'invalid_input'],
    ['session_recording_sample_rate', '1.01', 'max_value'],
    ['session_recording_sample_rate', -0.5, 'min_value'],
    ['session_recording_sample_rate', '0.125', 'invalid_input'],
    ['session_recording_minimum_duration_milliseconds', 30_001, 'max_value'],
    [linkedFlag, { id: 1 }, 'invalid_input'],
    [linkedFlag, { id: 1, key: 'a', other: 1 }, 'invalid_input'],
    [linkedFlag, [], 'invalid_input'],
    ['session_recording_network_payload_capture_config', { recordAll: true }, 'invalid_input'],
    ['session_replay_config', { x: 1 }, 'invalid_input'],
    ['week_start_day', 2, 'invalid_choice'],
    ['primary_dashboard', 'x', 'invalid_input'],
    ['monthly_event_quota', -1, 'min_value'],
    ['monthly_event_quota', 1.5, 'invalid_input'],
    ['monthly_event_quota', 1_000_000_000_000_001, 'max_value'],
    ['recording_domains', ['a'.repeat(201)], 'max_length', 'recording_domains__0'],
  ]
  for (const [field, value, code, attr = field] of cases) {
    const reply = await world.send('PATCH', '/api/projects/1/', { heatmaps_opt_in: true, [field]: value })
    t.equal(reply.status, 400, `${field} ${JSON.stringify(value)}`)
    t.match(jsonOf(reply), { code, attr })
  }
  t.same(await stored(world, 1), before)
})

t.test('stores and shows every field that may be written', async (t) => {
  const world = await openWorld(t)
  const sent = {
    name: 'Name',
    product_description: 'What it is',
    app_urls: ['https://a.b'],
    slack_incoming_webhook: 'http://192.0.2.7/hook',
    anonymize_ips: true,
    completed_snippet_onboarding: true,
    test_account_filters: [{ key: 'a' }],
    test_account_filters_default_checked: true,
    path_cleaning_filters: { a: [1] },
    is_demo: true,
    timezone: 'US/Pacific',
    data_attributes: ['x'],
    person_display_name_properties: ['email'],
    correlation_config: null,
    autocapture_opt_out: true,
    autocapture_exceptions_opt_in: false,
    autocapture_web_vitals_opt_in: true,
    autocapture_web_vitals_allowed_metrics: ['LCP'],
    autocapture_exceptions_errors_to_ignore: { a: null },
    capture_console_log_opt_in: null,
    capture_performance_opt_in: false,
    session_recording_opt_in: true,
    session_recording_sample_rate: '0.5',
    session_recording_minimum_duration_milliseconds: 30_000,
    session_recording_linked_flag: { id: 1, key: 'a', variant: 'b' },
    session_recording_network_payload_capture_config: { recordBody: true },
    session_replay_config: { record_canvas: true },
    survey_config: { appearance: {} },
    access_control: true,
    week_start_day: 1,
    primary_dashboard: 9_000_000_000,
    live_events_columns: ['event'],
    recording_domains: ['https://c.d', ''],
    inject_web_apps: true,
    extra_settings: { ['__proto__']: 1 },
    modifiers: {},
    has_completed_onboarding_for: { analytics: true },
    surveys_opt_in: true,
    heatmaps_opt_in: false,
    flags_persistence_default: null,
    monthly_event_quota: 1_000_000,
  }
  const expected = { ...sent, session_recording_sample_rate: '0.50', recording_domains: ['https://c.d'] }
  for (const method of ['PUT', 'PATCH']) {
    const reply = await world.send(method, '/api/projects/1/', sent, 'phx_administrator')
    t.equal(reply.status, 200, reply.text)
    const shown = jsonOf(reply)
    for (const [field, value] of Object.entries(expected)) t.strictSame(shown[field], value, field)
  }
  const path = `/api/organizations/${ids.ours}/activity/?scope=Project&item_id=1`
  const log = jsonOf(await world.get(path, 'phx_owner'))
  t.equal(log.count, 1)
  t.match(
    log.results[0].detail.changes.find((one: { field: string }) => one.field === 'slack_incoming_webhook'),
    { before: null, after: '********' },
  )
})

t.test('ignores what may not be written', async (t) => {
  const world = await openWorld(t)
  const before = await stored(world, 1)
  const readOnly = {
    id: 9,
    uuid: ids.ours,
    organization: ids.theirs,
    api_token: 'phc_x',
    ingested_event: true,
  }
  t.equal((await world.send('PATCH', '/api/projects/1/', readOnly)).status, 200)
  t.same(await stored(world, 1), { ...before, updated_at: '2024-05-01T12:00:00Z' })
})

t.test('merges what is set of surveys and replay', async (t) => {
  const world = await openWorld(t)
  const patch = (body: object) => world.send('PATCH', `${nested}1/`, body)
  await patch({ survey_config: { a: { x: 1 }, b: 1 }, session_replay_config: { ai_config: { x: 1, y: 1 } } })
  const reply = await patch({
    survey_config: { a: { z: 1 } },
    session_replay_config: { record_canvas: true, ai_config: { y: 2 } },
  })
  t.match(jsonOf(reply), {
    survey_config: { a: { z: 1 }, b: 1 },
    session_replay_config: { record_canvas: true, ai_config: { x: 1, y: 2 } },
  })
  t.notOk('x' in jsonOf(reply).survey_config.a)
  t.equal(jsonOf(await patch({ survey_config: null })).survey_config, null)
})
