import t from 'tap'
import { parseCompression, parseQuery } from '../../src/capture/query.ts'

t.test('knows each compression by all its names', async (t) => {
  t.equal(parseCompression('gzip'), 'gzip')
  t.equal(parseCompression('GZip-JS'), 'gzip')
  t.equal(parseCompression('lz64'), 'lz64')
  t.equal(parseCompression('lz-string'), 'lz64')
  t.equal(parseCompression(' base64'), 'base64')
  t.equal(parseCompression('b64'), 'base64')
  for (const name of ['', 'br', 'deflate', 'zstd', 'identity', 'constructor', '__proto__'])
    t.equal(parseCompression(name), null, name)
})

t.test('case 55: takes a sent_at in milliseconds after 2020 and nothing else', async (t) => {
  const sentAtMs = (query: string) => parseQuery(query).sentAtMs
  t.equal(sentAtMs('_=1714564800000'), 1714564800000)
  t.equal(sentAtMs('sent_at=1714564800000'), 1714564800000)
  t.equal(sentAtMs('_=1609459200000'), 1609459200000, '2021-01-01')
  t.equal(sentAtMs('_=1609459199999'), null, 'the last moment of 2020')
  t.equal(sentAtMs('_=1714564800'), null, 'seconds')
  t.equal(sentAtMs('_=abc&sent_at=1714564800000'), 1714564800000)
  t.equal(sentAtMs('_=-1714564800000'), null)
  t.equal(sentAtMs('_=999999999999999'), null)
})

t.test('case 32: only beacon=1 asks for an empty reply', async (t) => {
  t.equal(parseQuery('beacon=1').beacon, true)
  for (const query of ['', 'beacon', 'beacon=0', 'beacon=true', 'xbeacon=1'])
    t.equal(parseQuery(query).beacon, false)
})

t.test('decodes data, and gives base64 its pluses back', async (t) => {
  const data = (query: string) => {
    const found = parseQuery(query).data
    return found === null ? null : Buffer.from(found).toString()
  }
  t.equal(data('data=%7B%22a%22%3A%22%C3%BC+b%22%7D'), '{"a":"ü b"}')
  t.equal(data('data=ab+/cd=='), 'ab+/cd==')
  t.equal(data('x=1&data=%7B%7D&data=%5B%5D'), '{}')
  t.equal(data('data=%7B%zz%7'), '{%zz%7')
  t.equal(data('data='), null)
  t.equal(data('data'), null)
  t.equal(data('&&=&data=a=b'), 'a=b')
})
