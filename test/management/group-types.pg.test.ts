import t from 'tap'
import { addKey, openWorld } from '../api/world.ts'
import { addGroupType } from './identities.ts'

t.test('lists the group types of the project by their index', async (t) => {
  const world = await openWorld(t)
  await addGroupType(world.postgres, 1, 1, 'company')
  await addGroupType(world.postgres, 1, 0, 'team')
  await addGroupType(world.postgres, 2, 0, 'other')
  await world.postgres.query(
    `update group_type set name_singular = 'Company', name_plural = 'Companies' where name = 'company'`,
  )
  const reply = await world.get('/api/projects/1/groups_types/')
  t.equal(reply.status, 200)
  t.strictSame(JSON.parse(reply.text), [
    { group_type: 'team', group_type_index: 0, name_singular: null, name_plural: null },
    { group_type: 'company', group_type_index: 1, name_singular: 'Company', name_plural: 'Companies' },
  ])
})

t.test('lists for keys of the scope group:read, and only their own projects', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['group:read'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['person:read'] })
  t.equal((await world.get('/api/projects/1/groups_types/', 'phx_reader')).status, 200)
  t.equal((await world.get('/api/projects/1/groups_types/', 'phx_other')).status, 403)
  t.equal((await world.get('/api/projects/3/groups_types/', 'phx_reader')).status, 404)
})
