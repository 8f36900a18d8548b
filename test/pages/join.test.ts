import t from 'tap'
import { openHttpServer } from '../../src/http/server.ts'
import { joinRoutes } from '../../src/pages/join.ts'
import { silentLog as log } from '../support/postgres.ts'

t.test('serves a page and its script, and writes nothing of a request into them', async (t) => {
  const server = await openHttpServer({ host: '127.0.0.1', port: 0, routes: joinRoutes(), log })
  t.teardown(() => server.closeNow())
  const base = `http://127.0.0.1:${server.port}`
  const page = await fetch(`${base}/join/?<script>alert(1)</script>`)
  t.equal(page.status, 200)
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  t.match(page.headers.get('content-security-policy'), "script-src 'self'; ")
  t.notMatch(await page.text(), /alert|https?:/)
  const script = await fetch(`${base}/join/start.js`)
  t.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8')
  t.notMatch(await script.text(), /innerHTML|eval/)
})
