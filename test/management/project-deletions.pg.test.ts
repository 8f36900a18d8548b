import t from 'tap'
import type { Command } from '../../src/consumer/command.ts'
import { openProjectDeletions } from '../../src/management/project-deletions.ts'
import { ids, jsonOf, openWorld } from '../api/world.ts'
import { silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

t.test('a project goes with its rows at once, and its events by command', async (t) => {
  const world = await openWorld(t)
  for (const [path, key] of [
    [`/api/organizations/${ids.ours}/projects/1/`, 'phx_member'],
    ['/api/projects/1/', 'phx_member'],
  ] as const) {
    t.equal((await world.get(path, key, 'DELETE')).status, 403)
  }
  t.equal((await world.get('/api/projects/1/', 'phx_administrator', 'DELETE')).status, 204)
  t.equal((await world.get('/api/projects/1/', 'phx_administrator')).status, 404)
  await until(() => world.commands.length > 0)
  t.strictSame(world.commands[0], { command: 'delete_project', projectId: 1 })
  t.equal((await world.get('/api/projects/1/', 'phx_administrator', 'DELETE')).status, 404)
  // What the member was denied is noted as well, a moment later.
  const { results } = jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/`)) as {
    results: { activity: string }[]
  }
  t.match(
    results.filter(({ activity }) => activity !== 'denied'),
    [{ activity: 'deleted', scope: 'Project', item_id: '1' }],
  )
  t.equal(results.filter(({ activity }) => activity === 'deleted').length, 1)
})

t.test('an organization goes with everything, by its owner only', async (t) => {
  const world = await openWorld(t)
  const path = `/api/organizations/${ids.ours}/`
  t.equal((await world.get(path, 'phx_administrator', 'DELETE')).status, 403)
  t.equal((await world.get(path, 'phx_stranger', 'DELETE')).status, 404)
  const reply = await world.get(path, 'phx_owner', 'DELETE')
  t.equal(reply.status, 204)
  t.equal(reply.text, '')
  t.equal((await world.get(path, 'phx_owner')).status, 404)
  await until(() => world.commands.length > 1)
  t.strictSame(
    world.commands.map((command) => command.projectId),
    [1, 2],
  )
  const { rows } = await world.postgres.query(
    `select array(select name from organization) as organizations, array(select id from project) as projects,
       array(select user_id from membership) as members,
       (select current_organization_id from app_user where id = 3) as current`,
  )
  t.same(rows, [{ organizations: ['Theirs'], projects: [3], members: [4], current: null }])
})

t.test('a project and its organization may be deleted at once', async (t) => {
  const world = await openWorld(t)
  const waiting = async (count: number) =>
    until(async () => {
      const { rows } = await world.postgres.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows.length === count
    })
  const held = await world.postgres.hold()
  await held.query('begin')
  await held.query('select from project where id = 1 for update')
  const project = world.get('/api/projects/1/', 'phx_administrator', 'DELETE')
  await waiting(1)
  const organization = world.get(`/api/organizations/${ids.ours}/`, 'phx_owner', 'DELETE')
  await waiting(2)
  await held.query('rollback')
  held.release(true)
  t.strictSame([(await project).status, (await organization).status], [204, 204])
  const { rows } = await world.postgres.query(
    'select array(select id from project) as projects, array(select project_id from project_deletion) as deleted',
  )
  t.same(rows, [{ projects: [3], deleted: [1, 2] }])
})

t.test('what a killed server has left is carried out, and again when old requests are over', async (t) => {
  const world = await openWorld(t)
  await world.postgres.query(`insert into project_deletion values (7, '2024-05-01T12:00:00Z')`)
  const clock = { nowMs: () => world.clock.ms, monotonicMs: () => world.clock.ms }
  const commands: Command[] = []
  let isFull = true
  const carryOut = async (command: Command): Promise<void> => {
    if (isFull) throw new Error('no room')
    commands.push(command)
  }
  const { postgres } = world
  const deletions = openProjectDeletions({ postgres, commands: { carryOut }, clock, log })
  const left = async () => (await postgres.query('select project_id from project_deletion')).rows.length
  await deletions.carryOut()
  t.strictSame([commands.length, await left()], [0, 1])
  isFull = false
  await deletions.carryOut()
  t.strictSame([commands.length, await left()], [1, 1])
  world.clock.ms += 120_000
  await deletions.carryOut()
  t.strictSame([commands.length, await left()], [2, 1])
  world.clock.ms += 1
  await deletions.carryOut()
  t.strictSame([commands.length, await left()], [3, 0])
  await deletions.carryOut()
  t.equal(commands.length, 3)
  await deletions.close()
})
