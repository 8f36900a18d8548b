// What the official management clients send, in their order, and what they read of the answers: the Terraform provider
// (internal/httpclient) and the MCP server (typescript/src/api/client.ts).

import t from 'tap'
import { type Answer, addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'

t.test('the Terraform provider finds its organization, follows pages and manages a project', async (t) => {
  const world = await openWorld(t)
  await world.send('POST', '/api/organizations/', { name: 'Second' })
  t.match(jsonOf(await world.get('/api/organizations/@current/', 'phx_administrator')), { id: ids.ours })
  const seen: string[] = []
  let next: string | null = '/api/organizations/?limit=1'
  while (next !== null) {
    const page: { next: string | null; results: { id: string; slug: string; name: string }[] } = jsonOf(
      await world.get(next, 'phx_owner'),
    )
    for (const { id, slug, name } of page.results) seen.push(`${id} ${slug} ${name}`)
    next = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search
  }
  t.match(seen.sort(), [`${ids.ours} ours Ours`, / second Second$/])

  const projects = `/api/organizations/${ids.ours}/projects/`
  const made = await world.send('POST', projects, { name: 'From Terraform', timezone: 'Europe/Berlin' })
  t.equal(made.status, 201)
  const project = jsonOf(made)
  t.match(project, {
    id: Number,
    name: 'From Terraform',
    organization: ids.ours,
    api_token: /^phc_/,
    timezone: 'Europe/Berlin',
  })
  const at = `${projects}${project.id}/`
  t.match(jsonOf(await world.send('PATCH', at, { name: 'Renamed' })), { id: project.id, name: 'Renamed' })
  t.match(jsonOf(await world.get(at, 'phx_owner')), { name: 'Renamed', timezone: 'Europe/Berlin' })
  t.ok((await world.send('DELETE', at, '')).status < 300)
  t.equal((await world.get(at, 'phx_owner')).status, 404, 'gone is 404')
})

t.test('the Terraform provider manages members', async (t) => {
  const world = await openWorld(t)
  const members = `/api/organizations/${ids.ours}/members/`
  const find = async (email: string) => {
    const { results } = jsonOf(await world.get(members, 'phx_owner'))
    return results.find((one: { user: { email: string } }) => one.user.email === email)
  }
  const member = await find('member@spate.example')
  t.match(member, {
    id: String,
    user: { uuid: String, email: 'member@spate.example', first_name: String, is_email_verified: null },
    level: 1,
    joined_at: String,
    is_2fa_enabled: false,
  })
  const at = `${members}${member.user.uuid}/`
  t.match(jsonOf(await world.send('PATCH', at, { level: 8 })), { level: 8, user: { uuid: member.user.uuid } })
  t.equal((await world.send('DELETE', at, '')).status, 204)
  t.equal(await find('member@spate.example'), undefined)
  t.equal((await world.send('DELETE', at, '')).status, 404)
})

t.test('the Terraform provider is told when to come again', async (t) => {
  const world = await openWorld(t)
  for (let count = 0; count < 480; count++) await world.get('/api/organizations/@current/', 'phx_owner')
  const held: Answer = await world.get('/api/organizations/@current/', 'phx_owner')
  t.equal(held.status, 429)
  t.match(held.headers.get('retry-after'), /^\d+$/)
})

t.test('the MCP server finds out who it works for', async (t) => {
  const world = await openWorld(t)
  const key = 'phx_mcp'
  const scopes = ['user:read', 'organization:read', 'project:read']
  await addKey(world.postgres, key, 1, { scopes })
  const read = async (path: string) => jsonOf(await expectOk(world, path, key))
  const me = await read('/api/users/@me/')
  t.match(me, { distinct_id: 'member', organization: { id: ids.ours }, team: { id: ids.ourProject } })
  t.match(me.organizations, [{ id: ids.ours }])
  t.match(await read('/api/personal_api_keys/@current/'), {
    scopes,
    scoped_teams: [],
    scoped_organizations: [],
  })
  t.match((await read('/api/organizations/')).results, [{ id: ids.ours, name: 'Ours' }])
  t.match(await read(`/api/organizations/${ids.ours}/`), { id: ids.ours, name: 'Ours' })
  const listed = (await read(`/api/organizations/${ids.ours}/projects/`)).results
  t.match(listed, [{ id: 1, name: String, organization: ids.ours }, { id: 2 }])
  t.match(await read('/api/projects/1/'), { id: 1, name: String, organization: ids.ours })
})

async function expectOk(world: World, path: string, key: string): Promise<Answer> {
  const answer = await world.get(path, key)
  if (answer.status !== 200) throw new Error(`${path} ${answer.status} ${answer.text}`)
  return answer
}
