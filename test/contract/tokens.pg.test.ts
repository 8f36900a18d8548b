// Whose events they are: where the project API key may stand, and what is told to a request without a good one.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, single } from './requests.ts'

const server = await startServer(t)
const { projectApiKey } = server

t.test('an event without a key is refused (case 23)', async (t) => {
  const bodies = [event('keyless'), [event('keyless'), event('keyless')], { batch: [event('keyless')] }]
  for (const body of bodies) {
    const reply = await server.post('/e/', body)
    t.equal(reply.status, 401)
    t.equal(reply.text, 'event submitted without an api_key')
    t.match(reply.headers.get('content-type'), /^text\/plain/)
  }
  t.same(await server.storedEvents({ distinct_id: 'keyless' }), [])
})

t.test('a key that cannot be one is refused with the reason (case 24)', async (t) => {
  const faults = {
    '': 'empty',
    '  ': 'empty',
    [`phc_${'a'.repeat(61)}`]: 'too_long',
    phx_abc: 'personal_api_key',
    'phc_🦔': 'not_ascii',
    'phc_a\0b': 'null_byte',
  }
  for (const [key, fault] of Object.entries(faults)) {
    for (const body of [single('bad key', { api_key: key }), { api_key: key, batch: [event('bad key')] }]) {
      const reply = await server.post('/batch/', body)
      t.equal(reply.status, 401, fault)
      t.equal(reply.text, `API key is not valid: ${fault}`)
    }
  }
  t.same(await server.storedEvents({ distinct_id: 'bad key' }), [])
})

t.test('a key of 64 bytes is looked for and not found (decision D5)', async (t) => {
  for (const key of [`phc_${'a'.repeat(60)}`, 'phc_nobody']) {
    const reply = await server.post('/capture/', single('nobody', { api_key: key }))
    t.equal(reply.status, 401)
    t.equal(reply.text, 'API key is not valid: unknown')
  }
  t.same(await server.storedEvents({ distinct_id: 'nobody' }), [])
})

t.test('white space around a key is trimmed (case 25)', async (t) => {
  const body = single('trimmed', { api_key: ` ${projectApiKey}\n` })
  t.equal((await server.post('/capture/', body)).status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'trimmed' })).length, 1)
})

t.test('two different keys in an array are refused (case 26)', async (t) => {
  const reply = await server.post('/e/', [
    single('two keys'),
    single('two keys', { api_key: 'phc_another_project' }),
  ])
  t.equal(reply.status, 401)
  t.equal(reply.text, 'batch submitted with inconsistent api_key values')
  t.same(await server.storedEvents({ distinct_id: 'two keys' }), [])
})

t.test('one key in an array serves all its events', async (t) => {
  const reply = await server.post('/e/', [event('one key'), single('one key'), event('one key')])
  t.equal(reply.status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'one key' })).length, 3)
})

t.test('a key may stand in the properties alone (case 27)', async (t) => {
  const body = event('in properties', { properties: { token: projectApiKey } })
  t.equal((await server.post('/e/', body)).status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'in properties' })).length, 1)
})

t.test('$token is another name of the key (case 28)', async (t) => {
  t.equal((await server.post('/e/', event('dollar token', { $token: projectApiKey }))).status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'dollar token' })).length, 1)
})

t.test('two names of the key in one event are not an error', async (t) => {
  t.equal((await server.post('/e/', single('both names', { token: projectApiKey }))).status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'both names' })).length, 1)
})

t.test("the envelope's key counts, not those of its events", async (t) => {
  const reply = await server.post('/batch/', batch(event('envelope key', { api_key: 'phc_another_project' })))
  t.equal(reply.status, 200)
  t.equal((await server.storedEvents({ distinct_id: 'envelope key' })).length, 1)
})
