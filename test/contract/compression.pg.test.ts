// How a body may be packed, and what a body that cannot be unpacked is told.

import { gzipSync } from 'node:zlib'
import { gzipSync as fflateGzipSync } from 'fflate'
import lzString from 'lz-string'
import t, { type Test } from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, single } from './requests.ts'

const server = await startServer(t)
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const plainText = { 'content-type': 'text/plain' }

function json(distinctId: string): string {
  return JSON.stringify(single(distinctId, { properties: { text: 'häßlich 🦔' } }))
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** The event is stored once and its text came through unharmed. */
async function storedIntact(t: Test, distinctId: string): Promise<void> {
  const rows = await server.storedEvents({ distinct_id: distinctId })
  t.same(
    rows.map((row) => [row.event, row.properties.text]),
    [['e', 'häßlich 🦔']],
    distinctId,
  )
}

async function refused(t: Test, distinctId: string, path: string, body: unknown, headers = {}) {
  const reply = await server.post(path, body, headers)
  t.equal(reply.status, 400, distinctId)
  t.match(reply.text, /^failed to decode request: ./, distinctId)
  t.same(await server.storedEvents({ distinct_id: distinctId }), [], distinctId)
}

t.test('gzip named by Content-Encoding is unpacked (case 6)', async (t) => {
  for (const encoding of ['gzip', 'gzip-js', 'GZIP']) {
    const body = gzipSync(JSON.stringify(batch(event(`header ${encoding}`))))
    t.equal((await server.post('/batch', body, { 'content-encoding': encoding })).status, 200, encoding)
    t.equal((await server.storedEvents({ distinct_id: `header ${encoding}` })).length, 1, encoding)
  }
})

t.test('gzip without any hint is recognised by its first bytes (case 7)', async (t) => {
  const packed = {
    zlib: gzipSync(json('sniffed zlib')),
    fflate: fflateGzipSync(Buffer.from(json('sniffed fflate'))),
  }
  for (const [name, body] of Object.entries(packed)) {
    t.equal((await server.post('/e/', body, plainText)).status, 200, name)
    await storedIntact(t, `sniffed ${name}`)
  }
})

t.test('gzip named by the query is unpacked, whatever the case of the name (case 8)', async (t) => {
  for (const name of ['gzip-js', 'GZIP', 'gzip']) {
    const reply = await server.post(`/e/?compression=${name}`, gzipSync(json(`query ${name}`)), plainText)
    t.equal(reply.status, 200, name)
    await storedIntact(t, `query ${name}`)
  }
})

t.test('plain bytes called gzip are refused (case 9)', async (t) => {
  await refused(t, 'not gzip', '/e/?compression=gzip', json('not gzip'))
})

t.test('gzip that breaks off, is damaged or is followed by rubbish is refused (case 10)', async (t) => {
  const whole = gzipSync(json('broken gzip'))
  const damaged = Buffer.from(whole)
  damaged[damaged.length - 5]! ^= 1 // the checksum
  await refused(t, 'broken gzip', '/e/', whole.subarray(0, whole.length - 9), plainText)
  await refused(t, 'broken gzip', '/e/', whole.subarray(0, 12), plainText)
  await refused(t, 'broken gzip', '/e/', damaged, plainText)
  await refused(t, 'broken gzip', '/batch/', whole.subarray(0, 30), { 'content-encoding': 'gzip' })
})

t.test('base64 is unpacked with and without a hint (case 13)', async (t) => {
  for (const path of ['/e/?compression=base64', '/e/?compression=b64', '/e/', '/track/', '/batch/']) {
    t.equal((await server.post(path, base64(json(`base64 ${path}`)), plainText)).status, 200, path)
    await storedIntact(t, `base64 ${path}`)
  }
})

t.test('a form carries base64 in data (case 14)', async (t) => {
  const data = base64(json('form base64'))
  t.equal((await server.post('/e/', `data=${encodeURIComponent(data)}`, form)).status, 200)
  await storedIntact(t, 'form base64')
  // A sender that forgets to escape the plus signs sends blanks.
  const sloppy = base64(json('form blanks')).replaceAll('=', '%3D')
  t.equal((await server.post('/e/?compression=base64', `data=${sloppy}`, form)).status, 200)
  await storedIntact(t, 'form blanks')
})

t.test('a form carries lz64 in data (case 15)', async (t) => {
  const data = encodeURIComponent(lzString.compressToBase64(json('form lz64')))
  t.equal((await server.post('/e/?compression=lz64', `data=${data}`, form)).status, 200)
  await storedIntact(t, 'form lz64')
  const inField = encodeURIComponent(lzString.compressToBase64(json('form field')))
  t.equal((await server.post('/e/', `data=${inField}&compression=lz64`, form)).status, 200)
  await storedIntact(t, 'form field')
  const bare = lzString.compressToBase64(json('bare lz64'))
  t.equal((await server.post('/batch/?compression=lz-string', bare, plainText)).status, 200)
  await storedIntact(t, 'bare lz64')
})

t.test('a form carries plain JSON in data and may have a version field (case 16)', async (t) => {
  const data = encodeURIComponent(json('form plain'))
  t.equal((await server.post('/e/', `data=${data}&ver=1.2.3`, form)).status, 200)
  await storedIntact(t, 'form plain')
  const charset = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }
  t.equal((await server.post('/e/', `data=${encodeURIComponent(json('form charset'))}`, charset)).status, 200)
  await storedIntact(t, 'form charset')
})

t.test('JSON called a form is refused (case 17)', async (t) => {
  await refused(t, 'no form', '/e/', json('no form'), form)
})

t.test('rubbish called lz64 is refused (case 18)', async (t) => {
  await refused(t, 'rubbish', '/e/?compression=lz64', '!!! not lz64 !!!', plainText)
  await refused(t, 'rubbish', '/e/?compression=lz64', json('rubbish'), plainText)
})

t.test('bytes that are not UTF-8 are refused', async (t) => {
  const latin1 = Buffer.from(json('latin').replaceAll(/[^ -~]/g, 'ü'), 'latin1')
  await refused(t, 'latin', '/e/', latin1, plainText)
})

t.test('an unknown compression name is no hint', async (t) => {
  t.equal((await server.post('/e/?compression=zip', json('zip'))).status, 200)
  await storedIntact(t, 'zip')
})
