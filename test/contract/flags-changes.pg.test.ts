// Whoever asks for flags again is answered from copies. Each thing that can happen to a person or a group is done to
// some that have just been asked about, and the next answer heeds it.

import t from 'tap'
import { databaseOf, defineFlags } from '../support/definitions.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const server = await startServer(t)
const postgres = databaseOf(t, server)
const { projectApiKey } = server
const has = (key: string, value: string, more: object = {}) => ({ key, value, operator: 'exact', ...more })
const group = { type: 'group', group_type_index: 0 }

await defineFlags(server, postgres, [
  { key: 'pro', filters: { groups: [{ properties: [has('plan', 'pro')] }] } },
  { key: 'team', filters: { groups: [{ properties: [has('plan', 'team')] }] } },
  {
    key: 'large',
    filters: { aggregation_group_type_index: 0, groups: [{ properties: [has('size', 'large', group)] }] },
  },
])

const groups = { company: 'acme' }

/** Keys of the flags that are on. */
async function ask(distinctId: string): Promise<string[]> {
  const reply = await server.post('/decide/', { token: projectApiKey, distinct_id: distinctId, groups })
  return JSON.parse(reply.text).featureFlags
}

/** Asks twice, so that the second answer is from copies, while nothing changes. */
async function on(distinctId: string): Promise<string[]> {
  const first = await ask(distinctId)
  t.same(await ask(distinctId), first)
  return first
}

async function capture(event: string, distinctId: string, properties: object): Promise<void> {
  const reply = await server.post('/capture/', {
    api_key: projectApiKey,
    event,
    distinct_id: distinctId,
    properties,
  })
  t.equal(reply.status, 200)
}

t.test('what was known is not used once something has changed it', async (t) => {
  t.same(await on('ada'), [], 'nobody')
  await capture('$identify', 'ada', { $set: { plan: 'pro' } })
  await server.settled()
  t.same(await on('ada'), ['pro'], 'born')
  await capture('page', 'ada', { $set: { plan: 'team' } })
  await server.settled()
  t.same(await on('ada'), ['team'], 'changed')
  await capture('page', 'ada', { $unset: ['plan'] })
  await server.settled()
  t.same(await on('ada'), [], 'unset')

  await capture('page', 'bob', { $set: { plan: 'pro' } })
  await server.settled()
  t.same(await on('bob'), ['pro'])
  t.same(await on('phone'), [])
  await capture('$create_alias', 'bob', { alias: 'phone' })
  await server.settled()
  t.same(await on('phone'), ['pro'], 'an id becomes that of a person')

  t.same(await on('ada'), [])
  await capture('$merge_dangerously', 'bob', { alias: 'ada' })
  await server.settled()
  t.same(await on('ada'), ['pro'], 'moved to another person')
  await capture('page', 'ada', { $set: { plan: 'team' } })
  await server.settled()
  for (const id of ['ada', 'bob', 'phone']) t.same(await on(id), ['team'], 'all ids of a person')
})

t.test(
  'whoever has just sent an event that says who they are is heeded without a wait of theirs',
  async (t) => {
    for (let round = 0; round < 5; round++) {
      const id = `just-${round}`
      t.same(await on(id), [])
      await capture('$identify', id, { $set: { plan: 'pro' } })
      // The server waits up to 100 ms, and says nothing when that was too short.
      await until(async () => (await ask(id)).includes('pro'))
    }
  },
)

t.test('a group that changes is another one', async (t) => {
  const identifyGroup = (size: string): Promise<void> =>
    capture('$groupidentify', 'ada', { $group_type: 'company', $group_key: 'acme', $group_set: { size } })
  await identifyGroup('small')
  await server.settled()
  t.notOk((await on('eve')).includes('large'))
  await identifyGroup('large')
  await server.settled()
  await until(async () => (await ask('eve')).includes('large'))
  await identifyGroup('small')
  await server.settled()
  t.notOk((await on('eve')).includes('large'))
})

t.test('a person that was deleted has no properties left', async (t) => {
  await capture('$identify', 'gone', { $set: { plan: 'pro' } })
  await server.settled()
  t.same(await on('gone'), ['pro'])
  const persons = `/api/projects/${server.projectId}/persons/`
  const found = JSON.parse((await server.get(`${persons}?distinct_id=gone`)).text)
  const reply = await fetch(`${server.url}${persons}${found.results[0].uuid}/`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${server.personalApiKey}` },
  })
  t.equal(reply.status, 204)
  t.same(await on('gone'), [])
})
