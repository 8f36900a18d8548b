import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openServerClient } from '../../src/cli/server-client.ts'
import { loadConfig } from '../../src/config.ts'

const bootstrap = {
  organization_id: '00000000-0000-4000-8000-000000000001',
  project_id: 7,
  project_api_key: 'phc_first',
  personal_api_key: 'phx_first',
  email: 'owner@localhost',
}

/** A server that answers every path with what is set, and a folder with what a first start leaves. */
async function openWorld(t: Test) {
  const answer: { status: number; body: string } = { status: 200, body: '{}' }
  const asked: { url: string | undefined; authorization: string | undefined }[] = []
  const server = createServer(({ url, headers }, reply) => {
    asked.push({ url, authorization: headers.authorization })
    reply.writeHead(answer.status).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo // it listens on a port
  const dataDir = t.testdir()
  writeFileSync(join(dataDir, 'bootstrap.json'), JSON.stringify(bootstrap))
  const config = loadConfig({ DATA_DIR: dataDir, PORT: String(port), HOST: '0.0.0.0' })
  return { answer, asked, config }
}

const teams = (...ids: number[]) =>
  JSON.stringify({ teams: ids.map((id) => ({ id, name: `P${id}`, api_token: `phc_${id}` })) })

t.test('asks the server of this folder with the key of the first start', async (t) => {
  const { answer, asked, config } = await openWorld(t)
  answer.body = '{"a":1}'
  t.same(await openServerClient(config, {}).get('/api/x/'), { a: 1 })
  t.same(asked, [{ url: '/api/x/', authorization: 'Bearer phx_first' }])
})

t.test('asks elsewhere with another key when told', async (t) => {
  const { answer, asked, config } = await openWorld(t)
  const elsewhere = loadConfig({ DATA_DIR: t.testdir(), PORT: '1' })
  answer.status = 403
  answer.body = '{"detail":"API key missing required scope"}'
  const address = { url: `http://127.0.0.1:${config.port}/`, key: 'phx_other' }
  await t.rejects(openServerClient(elsewhere, address).get('/api/x/'), {
    code: 'server_refused',
    detail: '403 API key missing required scope',
  })
  t.same(asked, [{ url: '/api/x/', authorization: 'Bearer phx_other' }])
  answer.body = '<html>'
  await t.rejects(openServerClient(elsewhere, address).get('/api/x/'), {
    code: 'server_refused',
    detail: '403 <html>',
  })
  await t.rejects(openServerClient(elsewhere, { key: 'phx_other' }).get('/api/x/'), {
    code: 'server_unavailable',
  })
  t.throws(() => openServerClient(elsewhere, {}), { code: 'config_invalid', detail: /pass --key/ })
})

t.test('finds the project that is meant', async (t) => {
  const { answer, config } = await openWorld(t)
  const client = openServerClient(config, {})
  t.equal(await client.findProject('12'), 12)
  t.equal(await client.findProject('phc_first'), 7)
  answer.body = teams(3)
  t.equal(await client.findProject(undefined), 3)
  answer.body = teams(3, 4)
  t.equal(await client.findProject('phc_4'), 4)
  const choose = { code: 'server_refused', detail: /with --project: 3 \(P3\), 4 \(P4\)/ }
  await t.rejects(client.findProject(undefined), choose)
  await t.rejects(client.findProject('phc_5'), choose)
  answer.status = 403
  t.equal(await client.findProject(undefined), 7)
  await t.rejects(client.findProject('phc_5'), { code: 'server_refused', detail: /^403/ })
})
