import t from 'tap'
import type { Postgres } from '../../src/postgres/pool.ts'
import { addKey, ids, openWorld } from '../api/world.ts'

const path = `/api/organizations/${ids.ours}/usage/`

async function addUsage(postgres: Postgres): Promise<void> {
  await postgres.query(
    `insert into usage_daily (project_id, day, billable, historical) values
     (1, '2024-04-30', 100, 100), (1, '2024-05-01', 5, 2), (2, '2024-05-01', 7, 0), (3, '2024-05-01', 1000, 1000),
     (1, '2024-05-02', 100, 100)`,
  )
  await postgres.query('update project set monthly_event_quota = 9007199254740991 where id = 2')
}

t.test('counts the running month by day and by project, of this organization alone', async (t) => {
  const world = await openWorld(t)
  await addUsage(world.postgres)
  const reply = await world.get(path)
  t.equal(reply.status, 200)
  t.strictSame(JSON.parse(reply.text), {
    after: '2024-05-01',
    before: '2024-05-01',
    billable: 12,
    historical: 2,
    days: [{ day: '2024-05-01', billable: 12, historical: 2 }],
    projects: [
      { id: 1, name: 'Default project', monthly_event_quota: null, billable: 5, historical: 2 },
      { id: 2, name: 'Default project', monthly_event_quota: 9007199254740991, billable: 7, historical: 0 },
    ],
  })
  t.equal((await world.get('/api/organizations/@current/usage/')).text, reply.text)
})

t.test('counts from one day to another, both included', async (t) => {
  const world = await openWorld(t)
  await addUsage(world.postgres)
  const usage = async (query: string) => JSON.parse((await world.get(`${path}?${query}`)).text)
  t.match(await usage('after=2024-04-30&before=2024-05-02'), { billable: 212, historical: 202 })
  t.match(await usage('after=2024-05-02&before=2024-05-02'), { billable: 100, historical: 100 })
  t.match(await usage('before=2024-04-30'), { after: '2024-04-01', billable: 100 })
  t.match(await usage('after=2024-03-01&before=2024-03-02'), {
    billable: 0,
    days: [],
    projects: [{ billable: 0 }, {}],
  })
})

t.test('refuses days that are none, and more than a year of them', async (t) => {
  const world = await openWorld(t)
  const ask = (query: string) => world.get(`${path}?${query}`)
  t.equal((await ask('after=2023-05-02&before=2024-05-01')).status, 200)
  t.equal((await ask('after=2023-05-01&before=2024-05-01')).status, 400)
  t.match(JSON.parse((await ask('after=2024-05-02')).text), {
    type: 'validation_error',
    code: 'invalid_input',
    detail: 'Expected 1 to 366 days, got 0: from 2024-05-02 to 2024-05-01.',
    attr: 'after',
  })
  for (const day of ['2024-02-30', 'yesterday', '-7d', '2024-5-1', '+010000-01-01', '2024-05-01%00']) {
    const reply = await ask(`before=${day}`)
    t.match(JSON.parse(reply.text), { code: 'invalid_input', attr: 'before' }, day)
  }
})

t.test('is no business of others, and wants the scope organization:read', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['organization:read'] })
  await addKey(world.postgres, 'phx_other', 1, { scopes: ['project:read'] })
  t.equal((await world.get(path, 'phx_stranger')).status, 403)
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  t.equal((await world.get(path, 'phx_other')).status, 403)
  t.equal((await world.get(path, '')).status, 401)
})
