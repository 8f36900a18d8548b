// Which bodies the capture endpoints take, on which paths and by which methods.

import { gzipSync } from 'node:zlib'
import t from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, single } from './requests.ts'

const server = await startServer(t)
const paths = ['/batch', '/capture', '/e', '/i/v0/e', '/track', '/engage']
const { projectApiKey } = server

t.test('every capture path takes an event, with and without trailing slash (case 1)', async (t) => {
  for (const path of paths.flatMap((path) => [path, `${path}/`])) {
    const reply = await server.post(path, single(`path ${path}`))
    t.equal(reply.status, 200, path)
    t.equal(reply.text, '{"status":"Ok"}', path)
    t.equal(reply.headers.get('content-type'), 'application/json', path)
  }
  for (const path of paths.flatMap((path) => [path, `${path}/`])) {
    const rows = await server.storedEvents({ distinct_id: `path ${path}` })
    t.match(rows, [{ event: 'e', timestamp: /^2024-05-01T12:00:00/, properties: { $ip: '127.0.0.1' } }], path)
    t.equal(rows.length, 1, path)
  }
})

t.test('an envelope may be sent to /e/ (case 2)', async (t) => {
  const names = ['first', 'second', 'third']
  const reply = await server.post('/e/', batch(...names.map((name) => event('envelope', { event: name }))))
  t.equal(reply.status, 200)
  const rows = await server.storedEvents({ distinct_id: 'envelope' })
  t.same(
    rows.map((row) => row.event),
    ['first', 'second', 'third'],
  )
})

t.test('a single event may be sent to /batch/ (case 3)', async (t) => {
  const reply = await server.post('/batch/', single('lone', { properties: { a: 1 } }))
  t.equal(reply.status, 200)
  t.match(await server.storedEvents({ distinct_id: 'lone' }), [{ event: 'e', properties: { a: 1 } }])
})

t.test('a bare array keeps its order (case 4)', async (t) => {
  const events = Array.from({ length: 20 }, (_, n) => single('array', { event: `event ${n}` }))
  const reply = await server.post('/capture/', events)
  t.equal(reply.status, 200)
  const rows = await server.storedEvents({ distinct_id: 'array' })
  t.same(
    rows.map((row) => row.event),
    events.map((one) => one.event),
  )
})

t.test('an envelope may call its key token (case 5)', async (t) => {
  const reply = await server.post('/batch/', { token: projectApiKey, batch: [event('token envelope')] })
  t.equal(reply.status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'token envelope' })).length, 1)
})

t.test('a pixel may send its event in the address on the older paths (case 19)', async (t) => {
  for (const path of ['/e/', '/e', '/i/v0/e/', '/track/', '/engage/']) {
    const data = encodeURIComponent(JSON.stringify(single(`pixel ${path}`)))
    const reply = await server.get(`${path}?data=${data}`)
    t.equal(reply.status, 200, path)
    t.equal((await server.storedEvents({ distinct_id: `pixel ${path}` })).length, 1, path)
  }
})

t.test('GET is not allowed on /capture and /batch (decision D4)', async (t) => {
  for (const path of ['/capture', '/capture/', '/batch', '/batch/']) {
    const data = encodeURIComponent(JSON.stringify(single('not allowed')))
    const reply = await server.get(`${path}?data=${data}`)
    t.equal(reply.status, 405, path)
    t.match(reply.headers.get('allow'), /\bPOST\b/, path)
  }
  t.same(await server.storedEvents({ distinct_id: 'not allowed' }), [])
})

t.test('an empty body is refused (case 20)', async (t) => {
  for (const path of paths) {
    const reply = await server.post(path, '')
    t.equal(reply.status, 400, path)
    t.equal(reply.text, 'request missing data payload', path)
    t.match(reply.headers.get('content-type'), /^text\/plain/, path)
  }
})

t.test('text that is not JSON is refused (case 21)', async (t) => {
  for (const body of ['{', 'hello world', '[{"event":', '"a string"', '12', 'NaN']) {
    const reply = await server.post('/e/', body)
    t.equal(reply.status, 400, body)
    t.match(reply.text, /^failed to parse request/, body)
  }
})

t.test('a request without an event is refused, before its key is looked at (case 22)', async (t) => {
  for (const body of [[], batch(), { batch: [], api_key: '' }]) {
    const reply = await server.post('/batch/', body)
    t.equal(reply.status, 400)
    t.equal(reply.text, 'request holds no event')
  }
})

t.test('a beacon is answered 204 and stored (case 32)', async (t) => {
  const reply = await server.post('/e/?beacon=1', single('beacon'))
  t.equal(reply.status, 204)
  t.equal(reply.text, '')
  t.equal((await server.storedEvents({ distinct_id: 'beacon' })).length, 1)
  t.equal((await server.post('/e/?beacon=0', single('no beacon'))).status, 200)
  t.equal((await server.post('/e/?beacon=yes', single('no beacon'))).status, 200)
})

t.test('/engage without an event name is an identify (case 34)', async (t) => {
  const body = { token: projectApiKey, distinct_id: 'engaged', $set: { plan: 'pro' } }
  t.equal((await server.post('/engage/', body)).status, 200)
  t.match(await server.storedEvents({ distinct_id: 'engaged' }), [
    { event: '$identify', properties: { $set: { plan: 'pro' } } },
  ])
})

t.test('the same body on another path is refused (case 35)', async (t) => {
  const body = { token: projectApiKey, distinct_id: 'not engaged', $set: { plan: 'pro' } }
  const reply = await server.post('/e/', body)
  t.equal(reply.status, 400)
  t.equal(
    reply.text,
    'failed to hydrate events from request: non-engage request missing event name attribute',
  )
  t.same(await server.storedEvents({ distinct_id: 'not engaged' }), [])
})

t.test('a content type with a charset is taken (case 41)', async (t) => {
  const reply = await server.post('/batch', gzipSync(JSON.stringify(batch(event('android')))), {
    'content-type': 'application/json; charset=utf-8',
    'content-encoding': 'gzip',
  })
  t.equal(reply.status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'android' })).length, 1)
})

t.test('$set as an empty array, as PHP writes it, is an empty object (case 42)', async (t) => {
  const reply = await server.post('/batch/', batch(event('php', { event: '$identify', $set: [] })))
  t.equal(reply.status, 200)
  t.match(await server.storedEvents({ distinct_id: 'php' }), [
    { event: '$identify', properties: { $set: {} } },
  ])
})

t.test('an empty query string changes nothing', async (t) => {
  t.equal((await server.post('/batch?', batch(event('bare question mark')))).status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'bare question mark' })).length, 1)
})

t.test('query parameters of no meaning or of the wrong type are ignored', async (t) => {
  const query = '?ver=1.2.3&ip=0&retry_count=2&_=soon&compression=&lib_version'
  t.equal((await server.post(`/e/${query}`, single('odd query'))).status, 200)
  t.match(await server.storedEvents({ distinct_id: 'odd query' }), [{ timestamp: /^2024-05-01T12:00:00/ }])
})

t.test('an unknown path is 404', async (t) => {
  t.equal((await server.post('/captures/', single('nowhere'))).status, 404)
})
