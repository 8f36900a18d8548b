import t from 'tap'
import { addKey, ids, openWorld } from '../api/world.ts'
import { addPerson, personUuid } from './identities.ts'

const path = (number: number, projectId = 1) =>
  `/api/projects/${projectId}/persons/${personUuid(number).toUpperCase()}/`

t.test('asks the stores to delete a person, with its events when they are to go', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1 })
  const asked = { command: 'delete_person', projectId: 1, personUuid: personUuid(1) }
  const deletedAtMs = Date.UTC(2024, 4, 1, 12)
  for (const [query, deletesEvents] of [
    ['', false],
    ['?delete_events=true', true],
    ['?delete_events=False', false],
  ] as const) {
    const reply = await world.get(`${path(1)}${query}`, 'phx_member', 'DELETE')
    t.equal(reply.status, 204, query)
    t.equal(reply.text, '')
    t.strictSame(world.commands.pop(), { ...asked, deletesEvents, deletedAtMs })
  }
  const entries = await world.postgres.query<{ deletes_events: boolean }>(
    `select organization_id, user_id, activity, item_id, detail->'changes'->0->'after' as deletes_events, created_at
     from organization_activity where scope = 'Person' order by id`,
  )
  const entry = {
    organization_id: ids.ours,
    user_id: 1,
    activity: 'deleted',
    item_id: personUuid(1),
    created_at: '2024-05-01T12:00:00Z',
  }
  t.strictSame(entries.rows.map(({ deletes_events }) => deletes_events).sort(), [false, false, true])
  t.match(entries.rows, [entry, entry, entry])
  t.equal((await world.get(`${path(1)}?delete_events=maybe`, 'phx_member', 'DELETE')).status, 400)
  t.same(world.commands, [])
})

t.test('knows no person of another project, and no id that is none', async (t) => {
  const world = await openWorld(t)
  await addPerson(world.postgres, { number: 1, projectId: 2 })
  await addPerson(world.postgres, { number: 2, projectId: 3 })
  for (const unknown of [path(1), path(9), path(2, 3), '/api/projects/1/persons/%27%00/']) {
    t.equal((await world.get(unknown, 'phx_member', 'DELETE')).status, 404, unknown)
  }
  t.same(world.commands, [])
  t.same((await world.postgres.query('select * from organization_activity')).rows, [])
})

t.test('wants the scope person:write', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['person:read'] })
  await addKey(world.postgres, 'phx_writer', 1, { scopes: ['person:write'] })
  await addPerson(world.postgres, { number: 1 })
  t.equal((await world.get(path(1), 'phx_reader', 'DELETE')).status, 403)
  t.same(world.commands, [])
  t.equal((await world.get(path(1), 'phx_writer', 'DELETE')).status, 204)
})
