import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import lzString from 'lz-string'
import t from 'tap'
import { openBody } from '../../src/capture/body.ts'
import { type CaptureTask, capturePaths } from '../../src/capture/capture-task.ts'

const json = '{"api_key":"phc_test","event":"e~?>","distinct_id":"u"}'
const base64 = Buffer.from(json).toString('base64')
const lz64 = lzString.compressToBase64(json)
const form = 'application/x-www-form-urlencoded'

function bytes(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(content))
}

function task(body: string | Uint8Array, more: Partial<CaptureTask> = {}): CaptureTask {
  return {
    path: '/e',
    query: '',
    contentType: '',
    contentEncoding: '',
    body: bytes(body),
    clientIp: '',
    receivedAtMs: 1714564800000,
    projects: new SharedArrayBuffer(0),
    geoip: null,
    limits: { decompressedBytesMax: 1000, recordBytesMax: 1000, eventBytesMax: 1000 },
    ...more,
  }
}

/** The text, or the refusal as one line. */
function opened(body: string | Uint8Array, more: Partial<CaptureTask> = {}): string {
  const outcome = openBody(task(body, more))
  return outcome.kind === 'text'
    ? Buffer.from(outcome.bytes).toString()
    : `${outcome.code}: ${outcome.detail}`
}

t.test('cases 5-8, 13-16: opens every wrapping on every path', async (t) => {
  const wrappings: [string, string | Uint8Array, Partial<CaptureTask>][] = [
    ['plain', json, {}],
    ['plain, other type', json, { contentType: 'text/plain;charset=UTF-8' }],
    ['plain, useless hint', json, { query: 'compression=base64' }],
    ['gzip by header', gzipSync(json), { contentEncoding: 'gzip' }],
    ['gzip by magic', gzipSync(json), { contentType: 'text/plain' }],
    ['gzip by query', gzipSync(json), { query: 'ver=1&compression=gzip-js&ip=0' }],
    ['gzip by query in capitals', gzipSync(json), { query: 'compression=GZIP' }],
    ['gzip against another hint', gzipSync(json), { query: 'compression=lz64' }],
    ['gzip with a form type', gzipSync(json), { contentType: form }],
    ['base64 with hint', base64, { query: 'compression=base64' }],
    ['base64 by Content-Encoding', base64, { contentEncoding: 'b64' }],
    ['base64 without hint', base64, {}],
    ['base64 of gzip', gzipSync(json).toString('base64'), {}],
    ['lz64 by query', lz64, { query: 'compression=lz-string' }],
    ['lz64 by header', lz64, { contentEncoding: 'lz64' }],
    ['form of base64', `data=${encodeURIComponent(base64)}`, { contentType: form }],
    ['form of base64, not escaped', `data=${base64}`, { contentType: form }],
    ['form with charset', `data=${encodeURIComponent(base64)}`, { contentType: `${form}; charset=UTF-8` }],
    ['form of lz64', `data=${encodeURIComponent(lz64)}`, { contentType: form, query: 'compression=lz64' }],
    ['form of lz64, not escaped', `data=${lz64}&compression=lz64`, { contentType: form }],
    ['form of JSON', `data=${encodeURIComponent(json)}&ver=1.2.3`, { contentType: form }],
    ['form after other fields', `ip=1&_=17&data=${encodeURIComponent(json)}`, { contentType: form }],
    ['form of a beacon', `data=${encodeURIComponent(base64)}`, { contentType: 'text/plain' }],
  ]
  for (const [name, body, more] of wrappings)
    for (const path of capturePaths) t.equal(opened(body, { ...more, path }), json, `${name} to ${path}`)
})

t.test('case 41: a charset beside application/json changes nothing', async (t) => {
  const more = { contentType: 'application/json; charset=utf-8', contentEncoding: 'gzip' }
  t.equal(opened(gzipSync(json), more), json)
})

t.test('unwraps base64 twice on the legacy paths only', async (t) => {
  const twice = Buffer.from(base64).toString('base64')
  t.equal(opened(twice, { path: '/capture' }), json)
  t.equal(opened(twice, { path: '/batch' }), base64)
})

t.test('case 9: gzip announced but not sent', async (t) => {
  t.equal(
    opened(json, { query: 'compression=gzip' }),
    'payload_undecodable: failed to decode request: invalid GZIP data',
  )
  t.match(
    opened(json, { contentEncoding: 'gzip' }),
    /^payload_undecodable: failed to decode request: invalid GZIP data/,
  )
})

t.test('case 10: gzip cut short', async (t) => {
  const cut = gzipSync(json).subarray(0, -5)
  t.match(opened(cut), /^payload_undecodable: failed to decode request: invalid GZIP data: it ends too early/)
})

t.test('cases 11, 12: the limit on the inflated size is exact', async (t) => {
  const over =
    'body_too_large: maximum event size exceeded: body inflates to more than 1000 bytes (MAX_DECOMPRESSED_BYTES)'
  const limit = { decompressedBytesMax: 1000, recordBytesMax: 1, eventBytesMax: 1 }
  const spaces = (count: number) => `{${' '.repeat(count - 2)}}`
  t.equal(opened(gzipSync(spaces(999)), { limits: limit }), spaces(999))
  t.equal(opened(gzipSync(spaces(1000)), { limits: limit }), spaces(1000))
  t.equal(opened(gzipSync(spaces(1001)), { limits: limit }), over)
  const hint = { limits: limit, query: 'compression=lz64' }
  t.equal(opened(lzString.compressToBase64(spaces(1000)), hint), spaces(1000))
  t.equal(opened(lzString.compressToBase64(spaces(1001)), hint), over)
})

t.test('case 17: a form type without a form', async (t) => {
  const expected = 'payload_undecodable: failed to decode request: expected form data in POST request payload'
  t.equal(opened(json, { contentType: form }), expected)
  t.match(opened('ip=1&_=2', { contentType: form }), /^payload_undecodable: .*expected a form field "data"/)
})

t.test('case 18: lz64 of garbage', async (t) => {
  t.match(
    opened(json, { query: 'compression=lz64' }),
    /^payload_undecodable: failed to decode request: invalid lz64 data/,
  )
  t.match(opened('abcdabcd', { query: 'compression=lz64' }), /^payload_undecodable: .*invalid lz64 data/)
})

t.test('case 19: the payload may come in the query, and goes before the body', async (t) => {
  t.equal(opened('', { query: `data=${encodeURIComponent(json)}` }), json)
  t.equal(opened('ignored', { query: `data=${encodeURIComponent(base64)}&compression=base64` }), json)
  t.equal(opened('', { query: `ip=0&data=${base64}` }), json)
  t.equal(opened(json, { query: 'data=' }), json)
  t.equal(opened('data=x', { query: `data=${encodeURIComponent(json)}`, contentType: form }), json)
})

t.test('case 20: nothing was sent', async (t) => {
  const expected = 'payload_missing: request missing data payload'
  t.equal(opened(''), expected)
  t.equal(opened('', { query: 'data=' }), expected)
  t.equal(opened('data=', { contentType: form }), expected)
  t.equal(opened(gzipSync('')), expected)
})

t.test('case 21: what is not JSON is left for the scanner to judge', async (t) => {
  t.equal(opened('{'), '{')
})

t.test('only UTF-8 gets through, without its byte order mark', async (t) => {
  t.equal(opened('\ufeff{}'), '{}')
  t.equal(opened('\ufeff[1]', { query: 'compression=base64' }), '[1]')
  t.match(
    opened(Buffer.from('\ufeff{}', 'utf16le')),
    /^payload_undecodable: failed to decode request: invalid UTF-8/,
  )
  t.match(opened(Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0x7d])), /^payload_undecodable: .*invalid UTF-8/)
  t.match(
    opened(Buffer.from([0x1b, 0xff]), { contentEncoding: 'br' }),
    /Content-Encoding must be gzip, lz64 or base64/,
  )
})

t.test('base64 announced but not sent', async (t) => {
  t.match(opened('hello!', { query: 'compression=base64' }), /^payload_undecodable: .*invalid base64 data/)
})

t.test('cases 32, 55: hands on what the query says of time and reply', async (t) => {
  const outcome = openBody(task(gzipSync(json), { query: 'beacon=1&_=1714564800000' }))
  t.match(outcome, { kind: 'text', beacon: true, sentAtMs: 1714564800000, decompressedBytes: 55 })
  t.match(openBody(task(json, { query: '_=1714564800' })), { beacon: false, sentAtMs: null })
})

t.test('any bytes under any headers are text within the limit or a refusal', async (t) => {
  const seeds = [json, gzipSync(json), base64, lz64, `data=${base64}`].map((content) => bytes(content))
  const damaged = fc
    .tuple(fc.constantFrom(...seeds), fc.nat(80), fc.nat(255), fc.nat(80))
    .map(([seed, at, byte, end]) =>
      seed.map((old, index) => (index === at ? byte : old)).subarray(0, end + 3),
    )
  const body = fc.oneof(damaged, fc.uint8Array({ maxLength: 200 }))
  const hint = fc.constantFrom('', 'gzip', 'lz64', 'base64', 'br')
  const type = fc.constantFrom('', form, 'application/json')
  const query = fc.oneof(
    fc.string(),
    hint.map((name) => `compression=${name}`),
  )
  fc.assert(
    fc.property(body, hint, type, query, (content, contentEncoding, contentType, asked) => {
      const outcome = openBody(task(content, { contentEncoding, contentType, query: asked }))
      return outcome.kind === 'refused' || (outcome.bytes.length > 0 && outcome.bytes.length <= 1000)
    }),
    { numRuns: 5000 },
  )
  t.pass('5000 requests')
})
