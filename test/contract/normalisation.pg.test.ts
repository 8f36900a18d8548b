// What becomes of names, ids and properties on their way into the store.

import t from 'tap'
import type { Reply } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields, single } from './requests.ts'

const server = await startServer(t)

/** The distinct_id that an event of this name was stored with. */
async function storedId(name: string): Promise<string[]> {
  return (await server.storedEvents({ event: name })).map((row) => row.distinct_id)
}

async function storedProperties(distinctId: string): Promise<Fields | undefined> {
  return (await server.storedEvents({ distinct_id: distinctId }))[0]?.properties
}

t.test('a distinct_id of another type becomes its JSON text (case 43)', async (t) => {
  const ids: readonly [name: string, sent: unknown, stored: string][] = [
    ['id integer', 23, '23'],
    ['id fraction', 23.4, '23.4'],
    ['id array', ['a', 'b'], '["a","b"]'],
    ['id object', { string: 'a', number: 3 }, '{"number":3,"string":"a"}'],
    ['id boolean', true, 'true'],
  ]
  for (const [name, sent, stored] of ids) {
    t.equal((await server.post('/e/', single(sent, { event: name }))).status, 200, name)
    t.same(await storedId(name), [stored], name)
  }
})

t.test('the distinct_id of the event goes before that of its properties (case 44)', async (t) => {
  await server.post('/e/', single(23, { event: 'two ids', properties: { distinct_id: 'myid' } }))
  t.same(await storedId('two ids'), ['23'])
})

t.test('the distinct_id of the properties serves when the event has none', async (t) => {
  const fields = { event: 'inner id', properties: { distinct_id: 'myid' } }
  await server.post('/batch/', batch(fields, { ...fields, distinct_id: null }))
  t.same(await storedId('inner id'), ['myid', 'myid'])
})

t.test('a distinct_id is cut to 200 characters (case 45)', async (t) => {
  await server.post('/e/', single('a'.repeat(222), { event: 'long id' }))
  t.same(await storedId('long id'), ['a'.repeat(200)])
  // A character outside the basic plane counts once.
  await server.post('/e/', single('🦔'.repeat(201), { event: 'long hedgehogs' }))
  t.same(await storedId('long hedgehogs'), ['🦔'.repeat(200)])
  await server.post('/e/', single('b'.repeat(200), { event: 'full id' }))
  t.same(await storedId('full id'), ['b'.repeat(200)])
})

t.test('NUL in a distinct_id is replaced (case 46)', async (t) => {
  await server.post('/e/', single('a\u0000b', { event: 'nul id' }))
  t.same(await storedId('nul id'), ['a\uFFFDb'])
})

t.test('a distinct_id of white space alone is missing (case 47)', async (t) => {
  t.equal((await server.post('/e/', single('\t\n', { event: 'blank id' }))).status, 200)
  t.same(await storedId('blank id'), [])
})

t.test('a distinct_id keeps the blanks around it', async (t) => {
  await server.post('/e/', single(' padded ', { event: 'padded id' }))
  t.same(await storedId('padded id'), [' padded '])
})

t.test('an event name is cut to 200 characters (case 48)', async (t) => {
  await server.post('/e/', single('long name', { event: 'n'.repeat(250) }))
  const rows = await server.storedEvents({ distinct_id: 'long name' })
  t.same(
    rows.map((row) => row.event),
    ['n'.repeat(200)],
  )
})

t.test('top-level $set goes before the one of the properties (decision 5)', async (t) => {
  const fields = { $set: { a: 1 }, $set_once: { c: 5 }, properties: { $set: { a: 2, b: 3 } } }
  await server.post('/e/', single('two sets', fields))
  t.match(await storedProperties('two sets'), { $set: { a: 1, b: 3 }, $set_once: { c: 5 } })
})

t.test('a $session_id that is a uuid is stored in lower case (case 63)', async (t) => {
  const properties = { $session_id: '0190D5A1-7B8C-7DEF-8123-0123456789AB' }
  await server.post('/e/', single('session', { properties }))
  t.match(await storedProperties('session'), { $session_id: '0190d5a1-7b8c-7def-8123-0123456789ab' })
  await server.post('/e/', single('odd session', { properties: { $session_id: 'My-Session' } }))
  t.match(await storedProperties('odd session'), { $session_id: 'My-Session' })
})

t.test('$ip is the first address of X-Forwarded-For, unless the event brings one (case 64)', async (t) => {
  const forwarded = { 'x-forwarded-for': '203.0.113.7, 10.0.0.1' }
  await server.post('/e/', single('forwarded'), forwarded)
  t.match(await storedProperties('forwarded'), { $ip: '203.0.113.7' })
  await server.post('/e/', single('meta spelling'), { http_x_forwarded_for: '203.0.113.8' })
  t.match(await storedProperties('meta spelling'), { $ip: '203.0.113.8' })
  await server.post('/e/', single('own ip', { properties: { $ip: '198.51.100.9' } }), forwarded)
  t.match(await storedProperties('own ip'), { $ip: '198.51.100.9' })
  await server.post('/e/', single('direct'))
  t.match(await storedProperties('direct'), { $ip: '127.0.0.1' })
})

t.test('fields of the event that mean nothing are not stored (case 66)', async (t) => {
  const extra = { type: 'capture', library: 'posthog-node', library_version: '1.0.0', groups: { a: 'b' } }
  await server.post('/batch/', batch(event('extra', { ...extra, properties: { kept: 1 } })))
  t.same(await storedProperties('extra'), { kept: 1, $ip: '127.0.0.1' })
})

t.test('values are stored as they were sent', async (t) => {
  const properties = {
    nested: { list: [1, 'two', null, { three: 3.5 }], empty: {} },
    text: 'quote " backslash \\ tab \t line \n umlaut ü hedgehog 🦔',
    truth: false,
    nothing: null,
    tiny: 1e-7,
  }
  await server.post('/e/', single('values', { properties }))
  t.same(await storedProperties('values'), { ...properties, $ip: '127.0.0.1' })
})

/** Sends properties as the text they are, for what JavaScript cannot print. */
function postProperties(distinctId: string, properties: string): Promise<Reply> {
  const text = JSON.stringify(single(distinctId))
  return server.post('/e/', `${text.slice(0, -1)},"properties":${properties}}`)
}

t.test('a number beyond a double keeps its digits', async (t) => {
  const reply = await postProperties('digits', '{"n":12345678901234567890}')
  t.equal(reply.status, 200)
  await server.settled()
  const list = await server.get(`/api/projects/${server.projectId}/events/?distinct_id=digits`)
  t.match(list.text, /"n": ?12345678901234567890[,}]/)
})

t.test('NUL and lone surrogates in properties are replaced', async (t) => {
  const reply = await postProperties('odd text', '{"nul":"a\\u0000b","lone":"a\\ud800b","ke\\u0000y":1}')
  t.equal(reply.status, 200)
  t.match(await storedProperties('odd text'), { nul: 'a\uFFFDb', lone: 'a\uFFFDb', 'ke\uFFFDy': 1 })
})

t.test('the last of repeated keys counts', async (t) => {
  const reply = await postProperties('repeated', '{"a":1,"b":2,"a":3}')
  t.equal(reply.status, 200)
  t.same(await storedProperties('repeated'), { a: 3, b: 2, $ip: '127.0.0.1' })
})

t.test('$sent_at is stored when the sender said it', async (t) => {
  await server.post('/batch/', { ...batch(event('sent at')), sent_at: '2024-05-01T12:00:00Z' })
  t.match(await storedProperties('sent at'), { $sent_at: /^2024-05-01T12:00:00/ })
})

t.test('$elements become an elements chain', async (t) => {
  const $elements = [
    { tag_name: 'button', $el_text: 'Buy', attr__class: 'big red', attr__id: 'buy', nth_child: 1 },
    { tag_name: 'body', nth_child: 2 },
  ]
  await server.post('/e/', single('elements', { event: '$autocapture', properties: { $elements } }))
  const [row] = await server.storedEvents({ distinct_id: 'elements' })
  t.match(row?.elements_chain, /^button\.big\.red:.*attr__id="buy".*text="Buy".*;body:/)
  t.notOk(row && '$elements' in row.properties)
  const $elements_chain = 'a:nth-child="1"nth-of-type="1"text="Go"'
  await server.post('/e/', single('chain', { event: '$autocapture', properties: { $elements_chain } }))
  t.match(await server.storedEvents({ distinct_id: 'chain' }), [{ elements_chain: $elements_chain }])
})
