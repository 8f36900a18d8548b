// What the official management clients send, in their order and with their headers, and what they read of the answers:
// the Terraform provider (internal/httpclient) and the MCP server (typescript/src/api/client.ts).

import t from 'tap'
import { type Answer, addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'

/** Both say that they send JSON, also where they send nothing. */
async function ask(world: World, method: string, path: string, key: string, body?: object): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${world.server.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'user-agent': 'posthog/terraform-provider; version: 1.0.0',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

/** All pages, as the clients follow them: only path and query of `next` are used. */
async function readAll(world: World, path: string, key: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = []
  let next: string | null = path
  while (next !== null) {
    const page: { next: string | null; results: Record<string, unknown>[] } = jsonOf(
      await ask(world, 'GET', next, key),
    )
    rows.push(...page.results)
    next = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search
  }
  return rows
}

t.test('the Terraform provider finds its organization, follows pages and manages a project', async (t) => {
  const world = await openWorld(t)
  await world.send('POST', '/api/organizations/', { name: 'Second' })
  const terraform = (method: string, path: string, body?: object) =>
    ask(world, method, path, 'phx_owner', body)
  const here = await ask(world, 'GET', '/api/organizations/@current/', 'phx_administrator')
  t.match([here.status, jsonOf(here)], [200, { id: ids.ours, slug: 'ours', name: 'Ours' }])
  const seen = await readAll(world, '/api/organizations/?limit=1', 'phx_owner')
  t.match(seen.map(({ id, slug, name }) => `${id} ${slug} ${name}`).sort(), [
    `${ids.ours} ours Ours`,
    / second Second$/,
  ])

  const projects = `/api/organizations/${ids.ours}/projects/`
  const made = await terraform('POST', projects, { name: 'From Terraform', timezone: 'Europe/Berlin' })
  const project = jsonOf(made)
  t.match(
    [made.status, project],
    [
      201,
      {
        id: Number,
        name: 'From Terraform',
        organization: ids.ours,
        api_token: /^phc_/,
        timezone: 'Europe/Berlin',
      },
    ],
  )
  const at = `${projects}${project.id}/`
  const changed = await terraform('PATCH', at, { name: 'Renamed' })
  t.match([changed.status, jsonOf(changed)], [200, { id: project.id, name: 'Renamed' }])
  const read = await terraform('GET', at)
  t.match([read.status, jsonOf(read)], [200, { name: 'Renamed', timezone: 'Europe/Berlin' }])
  t.match(await terraform('DELETE', at), { status: 204, text: '' })
  t.equal((await terraform('GET', at)).status, 404, 'gone is 404')
  t.equal((await terraform('DELETE', at)).status, 404)
})

t.test('the Terraform provider manages members', async (t) => {
  const world = await openWorld(t)
  const members = `/api/organizations/${ids.ours}/members/`
  interface Member {
    readonly user: { readonly uuid: string; readonly email: string }
  }
  const find = async (): Promise<Member | undefined> => {
    const all = (await readAll(world, members, 'phx_owner')) as unknown[] as Member[] // rows of members
    return all.find((one) => one.user.email === 'member@spate.example')
  }
  const member = await find()
  t.match(member, {
    id: String,
    user: { uuid: String, first_name: String, last_name: String, is_email_verified: null },
    level: 1,
    joined_at: String,
    is_2fa_enabled: false,
  })
  const at = `${members}${member?.user.uuid}/`
  const changed = await ask(world, 'PATCH', at, 'phx_owner', { level: 8 })
  t.match([changed.status, jsonOf(changed)], [200, { level: 8, user: { uuid: member?.user.uuid } }])
  t.equal((await ask(world, 'DELETE', at, 'phx_owner')).status, 204)
  t.equal(await find(), undefined)
  t.equal((await ask(world, 'DELETE', at, 'phx_owner')).status, 404)
})

t.test('the Terraform provider is told when to come again', async (t) => {
  const world = await openWorld(t)
  for (let count = 0; count < 480; count++) await world.get('/api/organizations/@current/', 'phx_owner')
  const held: Answer = await world.get('/api/organizations/@current/', 'phx_owner')
  t.equal(held.status, 429)
  t.match(held.headers.get('retry-after'), /^\d+$/)
})

t.test('the MCP server finds out who it works for, and manages flags', async (t) => {
  const world = await openWorld(t)
  const key = 'phx_mcp'
  const scopes = ['user:read', 'organization:read', 'project:read', 'feature_flag:write']
  await addKey(world.postgres, key, 1, { scopes })
  const read = async (path: string) => {
    const answer = await ask(world, 'GET', path, key)
    t.equal(answer.status, 200, path)
    return jsonOf(answer)
  }
  const me = await read('/api/users/@me/')
  t.match(me, { distinct_id: 'member', organization: { id: ids.ours }, team: { id: ids.ourProject } })
  t.match(me.organizations, [{ id: ids.ours }])
  t.match(await read('/api/personal_api_keys/@current'), {
    scopes,
    scoped_teams: [],
    scoped_organizations: [],
  })
  t.match((await read('/api/organizations/')).results, [{ id: ids.ours, name: 'Ours' }])
  t.match(await read(`/api/organizations/${ids.ours}/`), { id: ids.ours, name: 'Ours' })
  const listed = (await read(`/api/organizations/${ids.ours}/projects/`)).results
  t.match(listed, [{ id: 1, name: String, organization: ids.ours }, { id: 2 }])
  t.match(await read('/api/projects/1/'), { id: 1, name: String, organization: ids.ours })

  const flags = '/api/projects/1/feature_flags/'
  const filters = { groups: [{ properties: [], rollout_percentage: 100 }] }
  const flag = { key: 'beta', name: 'Beta', description: 'What it is for', active: true, filters }
  const made = await ask(world, 'POST', flags, key, flag)
  const { id } = jsonOf(made)
  t.match([made.status, jsonOf(made)], [201, { id: Number, key: 'beta', name: 'Beta', active: true }])
  t.match(await readAll(world, flags, key), [{ id, key: 'beta' }])
  const changed = await ask(world, 'PATCH', `${flags}${id}/`, key, { key: 'beta', active: false })
  t.match([changed.status, jsonOf(changed)], [200, { id, key: 'beta', name: 'Beta', active: false }])
  t.equal((await ask(world, 'PATCH', `${flags}${id}/`, key, { deleted: true })).status, 200)
  t.strictSame(await readAll(world, flags, key), [])
})

t.test('the MCP server is told that a key is no good', async (t) => {
  const world = await openWorld(t)
  t.equal((await ask(world, 'GET', '/api/users/@me/', 'phx_wrong')).status, 401)
})
