import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { openHttpServer } from '../../src/http/server.ts'
import { docsRoutes } from '../../src/pages/docs.ts'
import { silentLog as log } from '../support/postgres.ts'

async function start(t: Test): Promise<string> {
  const server = await openHttpServer({ host: '127.0.0.1', port: 0, routes: docsRoutes(), log })
  t.teardown(() => server.closeNow())
  return `http://127.0.0.1:${server.port}`
}

t.test('serves a page whose every part comes from this server', async (t) => {
  const base = await start(t)
  for (const path of ['/docs', '/docs/']) {
    const page = await fetch(`${base}${path}`)
    t.equal(page.status, 200)
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    t.equal(page.headers.get('cache-control'), 'no-cache')
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; /)
    const text = await page.text()
    t.notMatch(text, /https?:|<script>/)
    const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
    t.same(parts.filter((address) => address !== '/api/schema/').length, 4)
  }
})

t.test('lets browsers keep what never changes, and gives each file its type', async (t) => {
  const base = await start(t)
  const text = await (await fetch(`${base}/docs/`)).text()
  const folder = /"(\/docs\/[\d.]+)\/swagger-ui\.css"/.exec(text)?.[1]
  const types: Record<string, string> = {
    [`${folder}/swagger-ui.css`]: 'text/css; charset=utf-8',
    [`${folder}/swagger-ui-bundle.js`]: 'text/javascript; charset=utf-8',
    [`${folder}/favicon-32x32.png`]: 'image/png',
  }
  for (const [path, type] of Object.entries(types)) {
    const file = await fetch(`${base}${path}`)
    t.equal(file.status, 200)
    t.equal(file.headers.get('content-type'), type)
    t.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    t.equal(file.headers.get('x-content-type-options'), 'nosniff')
    t.ok((await file.arrayBuffer()).byteLength > 500)
  }
  const script = await fetch(`${base}/docs/start.js`)
  t.equal(script.headers.get('cache-control'), 'no-cache')
  t.match(await script.text(), "url: '/api/schema/'")
})

t.test('serves no other file', async (t) => {
  const base = await start(t)
  const text = await (await fetch(`${base}/docs/`)).text()
  const folder = /"(\/docs\/[\d.]+)\//.exec(text)?.[1]
  const others = ['package.json', 'index.html', '..%2Fpackage.json', '__proto__', 'constructor']
  for (const file of others) t.equal((await fetch(`${base}${folder}/${file}`)).status, 404, file)
  t.equal((await fetch(`${base}/docs/1.0.0/swagger-ui.css`)).status, 404)
  t.equal((await fetch(`${base}/docs/`, { method: 'POST' })).status, 405)
  t.ok(existsSync('node_modules/swagger-ui-dist/index.html'), 'the files asked for exist')
})
