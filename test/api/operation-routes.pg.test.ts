import t from 'tap'
import { Type } from 'typebox'
import { projectOperation, userOperation } from '../../src/api/operation.ts'
import { operationRoutes } from '../../src/api/operation-routes.ts'
import { openAuthentication } from '../../src/api/principal.ts'
import { RateLimit } from '../../src/api/rate-limit.ts'
import { requestOf } from '../support/http-request.ts'
import { freshPostgres } from '../support/postgres.ts'
import { addKey, ids, jsonOf, openWorld } from './world.ts'

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked'))

t.test('an operation without a row in the access table cannot be served', async (t) => {
  const operation = userOperation({
    method: 'GET',
    path: '/api/back_door',
    operationId: 'back_door',
    summary: 'Nobody has decided who may do this',
    tag: 'test',
    query: null,
    body: null,
    status: 200,
    response: Type.Object({}),
    handle: () => ({}),
  })
  const postgres = await freshPostgres(t)
  const authentication = { authenticate: notAsked, authenticateProject: notAsked }
  const options = {
    postgres,
    authentication,
    addressOf: () => '',
    projectOfToken: async () => 1,
    onDenied: async () => {},
    siteUrl: null,
  }
  t.throws(() => operationRoutes([operation], options), {
    message: 'assertion failed: GET /api/back_door has a row in the access table',
  })
})

t.test('an operation whose input would not be checked cannot be served', async (t) => {
  const operation = projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/events',
    operationId: 'events',
    summary: 'Events',
    tag: 'test',
    query: Type.Object({ limit: Type.Union([Type.String(), Type.Integer()]) }),
    body: null,
    status: 200,
    response: null,
    handle: () => null,
  })
  const postgres = await freshPostgres(t)
  const authentication = { authenticate: notAsked, authenticateProject: notAsked }
  const options = {
    postgres,
    authentication,
    addressOf: () => '',
    projectOfToken: async () => 1,
    onDenied: async () => {},
    siteUrl: null,
  }
  t.throws(() => operationRoutes([operation], options), { message: /limit has alternatives other than null/ })
})

t.test('asks for a key first and tells the scheme', async (t) => {
  const world = await openWorld(t)
  const reply = await world.get('/api/projects/999/events/?person_id=x', '')
  t.equal(reply.status, 401)
  t.equal(reply.headers.get('www-authenticate'), 'Bearer realm="api"')
  t.strictSame(JSON.parse(reply.text), {
    type: 'authentication_error',
    code: 'not_authenticated',
    detail: 'Authentication credentials were not provided.',
    attr: null,
  })
  t.match(await world.get('/api/projects/1/events/', 'phx_wrong'), {
    status: 401,
    text: /"authentication_failed"/,
  })
})

t.test('then for the scope, the tenant and the input, in this order', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_projects', 1, { scopes: ['project:write'] })
  await addKey(world.postgres, 'phx_nothing', 1, { scopes: [] })
  await addKey(world.postgres, 'phx_writes', 1, { scopes: ['query:write'] })
  const ill = 'events/?person_id=x'
  for (const key of ['phx_projects', 'phx_nothing']) {
    t.match(await world.get(`/api/projects/3/${ill}`, key), {
      status: 403,
      text: /"detail":"API key missing required scope 'query:read'","attr":null/,
    })
  }
  t.match(await world.get(`/api/projects/3/${ill}`), { status: 404, text: /"detail":"Project not found\."/ })
  t.match(await world.get(`/api/projects/1/${ill}`, 'phx_writes'), {
    status: 400,
    text: '{"type":"validation_error","code":"invalid_input","detail":"Must be a valid UUID.","attr":"person_id"}',
  })
  t.match(await world.get('/api/projects/@current/events', 'phx_writes'), { status: 200 })
  t.equal(world.asked.length, 1)
})

t.test('answers a method that is not there only to those who may know the project', async (t) => {
  const world = await openWorld(t)
  t.match(await world.get('/api/projects/1/events/', '', 'DELETE'), { status: 401 })
  t.match(await world.get('/api/projects/3/events/', 'phx_member', 'DELETE'), { status: 404 })
  const reply = await world.get('/api/projects/1/events/', 'phx_member', 'DELETE')
  t.equal(reply.status, 405)
  t.equal(reply.headers.get('allow'), 'GET, HEAD')
  t.match(reply.text, /"detail":"Method \\"DELETE\\" not allowed\."/)
})

t.test('answers 429 with Retry-After', async (t) => {
  const world = await openWorld(t)
  for (let count = 0; count < 10; count++) await world.get('/api/projects/1/events/', `phx_guess${count}`)
  const reply = await world.get('/api/projects/1/events/', 'phx_guess')
  t.equal(reply.status, 429)
  t.equal(reply.headers.get('retry-after'), '60')
  t.match(reply.text, /"type":"throttled_error","code":"throttled"/)
})

t.test('a key that has asked 480 times in a minute has to wait, also under its next value', async (t) => {
  const world = await openWorld(t)
  const { value } = jsonOf(
    await world.send('POST', '/api/personal_api_keys/@current/roll/', {}, 'phx_member'),
  )
  const path = '/api/personal_api_keys/@current/'
  for (let times = 1; times < 479; times++) await world.get(path, value)
  const rolled = jsonOf(await world.send('POST', `${path}roll/`, {}, value))
  world.clock.ms += 59_001
  const reply = await world.get(path, rolled.value)
  t.equal(reply.status, 429)
  t.equal(reply.headers.get('retry-after'), '1')
  world.clock.ms += 999
  t.equal((await world.get(path, rolled.value)).status, 200)
})

t.test('a statement that is cut or has to give way is an answer to come back with', async (t) => {
  const world = await openWorld(t)
  for (const [settings, statement] of [
    [`statement_timeout to '5ms'`, 'select pg_sleep(60)'],
    [`lock_timeout to '5ms'`, 'lock table project in access exclusive mode'],
  ]) {
    const slow = projectOperation({
      method: 'GET',
      path: '/api/projects/:project_id/events',
      operationId: 'slow',
      summary: 'Takes long',
      tag: 'test',
      query: null,
      body: null,
      status: 200,
      response: null,
      handle: () =>
        world.postgres.transaction(async (session) => {
          await session.query(`set local ${settings}`)
          await session.query(statement ?? '')
        }),
    })
    const { postgres, log, clock } = world.management
    const [route] = operationRoutes([slow], {
      postgres,
      authentication: openAuthentication({ postgres, rateLimit: new RateLimit(clock), clock, log }),
      addressOf: () => '',
      projectOfToken: async () => 1,
      onDenied: async () => {},
      siteUrl: null,
    })
    const lock = await postgres.hold()
    await lock.query('begin')
    await lock.query('lock table project in access share mode')
    const headers = { authorization: 'Bearer phx_member' }
    const request = requestOf({ path: '/api/projects/1/events', params: { project_id: '1' }, headers })
    await t.rejects(Promise.resolve(route?.handle(request)), {
      code: 'database_busy',
      retryAfterSeconds: 5,
    })
    await lock.query('rollback')
    lock.release(true)
  }
})

t.test('shows nothing of one organization to the people of another', async (t) => {
  const world = await openWorld(t)
  const paths = ['events/', 'ingestion_warnings/']
  for (const path of paths) {
    t.equal((await world.get(`/api/projects/${ids.ourProject}/${path}`, 'phx_stranger')).status, 404)
    t.equal((await world.get(`/api/projects/${ids.theirProject}/${path}`, 'phx_owner')).status, 404)
    t.equal((await world.get(`/api/projects/${ids.theirProject}/${path}`, 'phx_stranger')).status, 200)
  }
})
