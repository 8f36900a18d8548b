import t from 'tap'
import { addKey, ids, jsonOf, validationError } from '../api/world.ts'
import { exportsPath, makeExport, noOp, openExportWorld, s3, theirExportsPath } from './batch-export-world.ts'

const now = '2024-05-01T12:00:00Z'

t.test('creates an export and shows everything but its secrets', async (t) => {
  const world = await openExportWorld(t)
  const reply = await world.send('POST', exportsPath, s3)
  t.equal(reply.status, 201)
  const { id, ...rest } = jsonOf(reply)
  t.match(id, /^[0-9a-f-]{36}$/)
  t.strictSame(rest, {
    team_id: 1,
    name: 'to s3',
    model: 'events',
    destination: { type: 'S3', config: { prefix: 'events/', region: 'us-east-1', bucket_name: 'bucket' } },
    interval: 'hour',
    paused: false,
    created_at: now,
    last_updated_at: now,
    last_paused_at: null,
    start_at: null,
    end_at: null,
    hogql_query: null,
    schema: null,
    filters: null,
    latest_runs: [],
  })
  t.strictSame(jsonOf(await world.get(`${exportsPath}${id}/`)), { id, ...rest })
  t.strictSame(jsonOf(await world.get(exportsPath)), {
    count: 1,
    next: null,
    previous: null,
    results: [{ id, ...rest }],
  })
  t.strictSame(jsonOf(await world.get('/api/projects/1/batch_exports/')).results, [{ id, ...rest }])
  const { rows } = await world.postgres.query<{ secrets: string }>(
    'select destination_secrets as secrets, batch_export::text from batch_export',
  )
  t.match(rows[0]?.secrets, /^sealed1\./)
  t.notMatch(JSON.stringify(rows), /verysecret|AKIASECRET/)
  const { rows: audit } = await world.postgres.query('select * from organization_activity')
  t.equal(audit.length, 1)
  t.notMatch(JSON.stringify(audit), /verysecret|AKIASECRET/)
})

t.test('takes every field, and keeps what it cannot change', async (t) => {
  const world = await openExportWorld(t)
  const body = {
    ...noOp,
    id: ids.ours,
    team_id: 3,
    schema: {},
    model: 'sessions',
    interval: 'every 5 minutes',
    paused: true,
    last_paused_at: '2024-01-01T00:00:00+01:00',
    start_at: '2024-06-01T00:00:00.123456Z',
    end_at: null,
    filters: [{ key: 'a' }],
    hogql_query: null,
  }
  const made = jsonOf(await world.send('POST', exportsPath, body))
  t.not(made.id, ids.ours)
  t.match(made, {
    team_id: 1,
    schema: null,
    model: 'sessions',
    interval: 'every 5 minutes',
    paused: true,
    last_paused_at: '2023-12-31T23:00:00Z',
    start_at: '2024-06-01T00:00:00.123456Z',
    filters: [{ key: 'a' }],
  })
  t.equal(jsonOf(await world.send('POST', exportsPath, { ...noOp, model: null })).model, 'events')
})

t.test('refuses what it cannot take, by field', async (t) => {
  const world = await openExportWorld(t)
  const s3With = (config: object) => ({
    ...s3,
    destination: { type: 'S3', config: { ...s3.destination.config, ...config } },
  })
  const typed = (type: string, config: object = {}) => ({ ...s3, destination: { type, config } })
  const built = 'Supported types are: S3, Postgres, Redshift, HTTP, NoOp.'
  const http = typed('HTTP', { url: 'https://93.184.216.34/batch', token: 'phc_x' })
  const rows: [body: object | string, code: string, attr: string | null, detail: string | RegExp][] = [
    [
      { ...http, model: 'persons' },
      'invalid_input',
      'destination',
      /^An HTTP destination takes events, not persons/,
    ],
    [
      { ...noOp, model: 'sessions', hogql_query: 'select event from events' },
      'invalid_input',
      'hogql_query',
      /not sessions/,
    ],
    [{}, 'required', 'name', 'This field is required.'],
    [{ ...s3, name: ' ' }, 'blank', 'name', 'This field may not be blank.'],
    [{ ...s3, name: 'a\0' }, 'invalid_input', 'name', 'Null characters are not allowed.'],
    [{ name: 'a' }, 'required', 'destination', 'This field is required.'],
    [{ ...s3, interval: undefined }, 'required', 'interval', 'This field is required.'],
    [{ ...s3, interval: 'fortnight' }, 'invalid_choice', 'interval', '"fortnight" is not a valid choice.'],
    [{ ...s3, interval: '__proto__' }, 'invalid_choice', 'interval', '"__proto__" is not a valid choice.'],
    [{ ...s3, model: 'groups' }, 'invalid_choice', 'model', '"groups" is not a valid choice.'],
    [{ ...s3, paused: 'maybe' }, 'invalid_input', 'paused', 'Must be a valid boolean.'],
    [{ ...s3, start_at: '2024-01-01' }, 'invalid_input', 'start_at', /^Datetime has wrong format/],
    [{ ...s3, start_at: '0000-01-01T00:00:00Z' }, 'invalid_input', 'start_at', 'Years go from 1 to 9999.'],
    [{ ...s3, end_at: '9999-12-31T23:00:00-10:00' }, 'invalid_input', 'end_at', 'Years go from 1 to 9999.'],
    [
      { ...s3, destination: [] },
      'invalid_input',
      'destination',
      'Invalid data. Expected a dictionary, but got list.',
    ],
    [typed('FTP'), 'invalid_choice', 'destination__type', '"FTP" is not a valid choice.'],
    [
      typed('Snowflake'),
      'invalid_input',
      'destination',
      `Destination type Snowflake is not supported. ${built}`,
    ],
    [
      typed('BigQuery'),
      'invalid_input',
      'destination',
      `Destination type BigQuery is not supported. ${built}`,
    ],
    [
      typed('Databricks'),
      'invalid_input',
      'destination',
      `Destination type Databricks is not supported. ${built}`,
    ],
    [
      typed('S3'),
      'invalid_input',
      'destination',
      'Configuration missing required inputs: bucket_name, region, prefix.',
    ],
    [
      s3With({ file_format: 'CSV' }),
      'invalid_input',
      'destination',
      /^File format CSV is not supported\. Supported/,
    ],
    [s3With({ compression: 'zstd' }), 'invalid_input', 'destination', /^Compression zstd is not supported/],
    [s3With({ endpoint_url: 'http://127.0.0.1:9000' }), 'address_refused', 'destination', /private network/],
    [
      typed('HTTP', { url: 'http://169.254.169.254/', token: 't' }),
      'address_refused',
      'destination',
      /private network/,
    ],
    [
      typed('Postgres', { user: 'u', password: 'p', host: '10.0.0.1', database: 'd' }),
      'address_refused',
      'destination',
      /private network/,
    ],
    [{ ...s3, hogql_query: 'SELECT' }, 'invalid_input', 'hogql_query', 'Failed to parse query'],
    [
      { ...s3, hogql_query: 'select event from events union all select event from events' },
      'invalid_input',
      'hogql_query',
      'UNIONs are not supported',
    ],
    [{ ...s3, token: 'phc_3' }, 'invalid_input', 'token', 'No project has this API key.'],
    ['{', 'parse_error', null, /^JSON parse error/],
  ]
  for (const [body, code, attr, detail] of rows) {
    const reply = await world.send('POST', exportsPath, body)
    const name = JSON.stringify(body).slice(0, 150)
    t.equal(reply.status, 400, name)
    t.match(jsonOf(reply), { code: code === 'address_refused' ? 'invalid_input' : code, attr }, name)
    if (typeof detail === 'string') t.match(reply, validationError(code, detail, attr), name)
    else t.match(jsonOf(reply).detail, detail)
    t.notMatch(reply.text, /verysecret|AKIASECRET/)
  }
  t.same((await world.postgres.query('select count(*) from batch_export')).rows, [{ count: 0 }])
})

t.test('belongs to the project of the token, else the current one, else the first', async (t) => {
  const world = await openExportWorld(t)
  const team = async (body: object, path = exportsPath) =>
    jsonOf(await world.send('POST', path, body)).team_id
  t.equal(await team({ ...noOp, token: 'phc_2' }), 2)
  t.equal(await team({ ...noOp, api_key: 'phc_2' }), 2)
  t.equal(await team(noOp, '/api/projects/2/batch_exports/'), 2)
  await world.postgres.query('update app_user set current_project_id = 2')
  t.equal(await team(noOp), 2)
  await world.postgres.query('update app_user set current_project_id = 3')
  t.equal(await team(noOp), 1)
  await world.postgres.query('delete from project where organization_id = $1', [ids.ours])
  t.match(await world.send('POST', exportsPath, noOp), { status: 400, text: /has no project to export from/ })
})

t.test('a change keeps what was not sent, secrets above all', async (t) => {
  const world = await openExportWorld(t)
  const path = await makeExport(world, s3)
  const sealed = async () =>
    (await world.postgres.query('select destination_secrets from batch_export')).rows[0]
  const before = await sealed()
  world.clock.ms += 1000
  const changed = await world.send('PATCH', path, { name: 'renamed', paused: true })
  t.equal(changed.status, 200)
  t.match(jsonOf(changed), {
    name: 'renamed',
    paused: true,
    last_paused_at: null,
    last_updated_at: '2024-05-01T12:00:01Z',
  })
  t.strictSame(await sealed(), before)
  const moved = jsonOf(await world.send('PATCH', path, { destination: { config: { prefix: 'new/' } } }))
  t.strictSame(moved.destination.config, { prefix: 'new/', region: 'us-east-1', bucket_name: 'bucket' })
  t.ok(await sealed())
  // Another type starts from nothing: the old secrets were not meant for it.
  t.equal((await world.send('PATCH', path, { destination: { type: 'HTTP' } })).status, 400)
  const other = jsonOf(await world.send('PATCH', path, { destination: { type: 'NoOp' } }))
  t.strictSame(other.destination, { type: 'NoOp', config: {} })
  t.strictSame(await sealed(), { destination_secrets: null })
  t.equal((await world.send('PUT', path, { name: 'only' })).status, 400)
  const put = jsonOf(await world.send('PUT', path, { ...noOp, name: 'put' }))
  t.match(put, { name: 'put', paused: true })
  t.equal((await world.send('PATCH', path, { name: null })).status, 400)
  const { rows } = await world.postgres.query(
    `select detail -> 'changes' as changes from organization_activity where detail::text like '%"renamed"%"to s3"%'`,
  )
  t.same(rows, [
    {
      changes: [
        { field: 'name', after: 'renamed', before: 'to s3' },
        { field: 'paused', after: true, before: false },
      ],
    },
  ])
})

t.test('a query is read, kept as it was sent, and can be taken back', async (t) => {
  const world = await openExportWorld(t)
  const text = 'select event,   properties.$browser as browser from events'
  const path = await makeExport(world, { ...noOp, hogql_query: text })
  const made = jsonOf(await world.get(path))
  t.equal(made.hogql_query, text)
  t.strictSame(made.schema.fields, [
    { alias: 'event', expression: '"event"' },
    { alias: 'browser', expression: 'properties."$browser"' },
  ])
  t.equal(jsonOf(await world.send('PATCH', path, { name: 'x' })).hogql_query, text)
  t.match(jsonOf(await world.send('PATCH', path, { hogql_query: null })), { hogql_query: null, schema: null })
  t.match(await world.send('PATCH', path, { hogql_query: 'select nothing from events' }), {
    status: 400,
    text: /Invalid HogQL query/,
  })
})

t.test('deletes an export once and for all', async (t) => {
  const world = await openExportWorld(t)
  const path = await makeExport(world)
  const gone = await world.get(path, 'phx_owner', 'DELETE')
  t.strictSame([gone.status, gone.text], [204, ''])
  t.equal((await world.get(path)).status, 404)
  t.equal((await world.get(path, 'phx_owner', 'DELETE')).status, 404)
  t.equal((await world.get(`${exportsPath}not-an-id/`)).status, 404)
  t.same((await world.postgres.query('select count(*) from batch_export')).rows, [{ count: 0 }])
})

t.test('lists in pages, newest first', async (t) => {
  const world = await openExportWorld(t)
  for (const name of ['a', 'b', 'c']) {
    await makeExport(world, { ...noOp, name })
    world.clock.ms += 1000
  }
  const page = jsonOf(await world.get(`${exportsPath}?limit=2`))
  t.equal(page.count, 3)
  t.equal(page.next, `https://spate.example${exportsPath}?limit=2&offset=2`)
  t.strictSame(
    page.results.map((one: { name: string }) => one.name),
    ['c', 'b'],
  )
})

t.test('a key reads or writes as its scopes say, and nobody enters another organization', async (t) => {
  const world = await openExportWorld(t)
  const path = await makeExport(world)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['batch_export:read'] })
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  const refused = await world.send('POST', `${path}pause/`, {}, 'phx_reader')
  t.equal(refused.status, 403)
  t.equal(jsonOf(refused).detail, "API key missing required scope 'batch_export:write'")
  t.equal((await world.send('POST', exportsPath, noOp, 'phx_reader')).status, 403)
  // Below their own organization, ours are not there; below ours, they are not let in.
  const theirs = path.replace(ids.ours, ids.theirs)
  const inOther = path.replace(`/organizations/${ids.ours}/`, '/projects/2/')
  for (const [method, below] of [
    ['GET', ''],
    ['PATCH', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', 'pause/'],
    ['POST', 'unpause/'],
    ['POST', 'backfill/'],
    ['POST', 'backfills/'],
    ['GET', 'backfills/'],
    ['GET', 'runs/'],
    ['GET', 'logs/'],
  ] as const) {
    const body = method === 'GET' ? undefined : { ...noOp, start_at: null, end_at: null }
    const ask = (base: string, key: string) =>
      body === undefined ? world.get(base + below, key) : world.send(method, base + below, body, key)
    t.equal((await ask(path, 'phx_stranger')).status, 403, `${method} ${below} from outside`)
    t.equal((await ask(theirs, 'phx_stranger')).status, 404, `${method} ${below} of others`)
    t.equal((await ask(inOther, 'phx_owner')).status, 404, `${method} ${below} of another project`)
  }
  t.strictSame(jsonOf(await world.get(theirExportsPath, 'phx_stranger')).results, [])
  t.match(jsonOf(await world.get(path)), { name: 'nowhere', paused: false })
})
