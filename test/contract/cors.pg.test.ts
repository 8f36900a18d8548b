// Browsers may send from anywhere, and must be able to read every answer: one they cannot read counts as a lost
// connection and is sent again.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { single } from './requests.ts'

const server = await startServer(t)
const origin = 'https://shop.example:8443'

t.test('a preflight with odd headers is granted them (case 33)', async (t) => {
  for (const path of ['/e/', '/batch', '/capture/', '/i/v0/e/', '/track', '/engage/']) {
    const reply = await fetch(`${server.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-odd-one,content-type,x-posthog-session-id',
      },
    })
    t.equal(reply.status, 200, path)
    t.equal(await reply.text(), '', path)
    t.equal(reply.headers.get('access-control-allow-origin'), origin, path)
    t.equal(reply.headers.get('access-control-allow-credentials'), 'true', path)
    t.equal(
      reply.headers.get('access-control-allow-headers'),
      'x-odd-one,content-type,x-posthog-session-id',
      path,
    )
    t.match(reply.headers.get('access-control-allow-methods'), /\bGET\b.*\bPOST\b.*\bOPTIONS\b/, path)
    t.match(reply.headers.get('vary'), /origin/i, path)
  }
})

t.test('every answer can be read by the browser that asked, errors too (case 33)', async (t) => {
  const requests = [
    { path: '/e/', body: single('cors'), status: 200 },
    { path: '/e/?beacon=1', body: single('cors'), status: 204 },
    { path: '/e/', body: '{', status: 400 },
    { path: '/e/', body: single('cors', { api_key: 'phc_nobody' }), status: 401 },
    { path: '/e/', body: Buffer.alloc(20 * 1024 * 1024 + 1, ' '), status: 413 },
    { path: '/static/unknown.js', body: {}, status: 404 },
    { path: '/array/phc_nobody/config', body: {}, status: 405 },
  ]
  for (const { path, body, status } of requests) {
    const reply = await server.post(path, body, { origin })
    t.equal(reply.status, status)
    t.equal(reply.headers.get('access-control-allow-origin'), origin, `${status}`)
    t.equal(reply.headers.get('access-control-allow-credentials'), 'true', `${status}`)
  }
})

t.test('a method that is not allowed can be read as well', async (t) => {
  const reply = await fetch(`${server.url}/batch/`, { headers: { origin } })
  t.equal(reply.status, 405)
  t.equal(reply.headers.get('access-control-allow-origin'), origin)
})

t.test('a sender that is no browser gets no such headers', async (t) => {
  const reply = await server.post('/e/', single('no origin'))
  t.equal(reply.status, 200)
  t.equal(reply.headers.get('access-control-allow-origin'), null)
})
