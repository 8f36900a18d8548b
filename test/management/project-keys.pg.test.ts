import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findProject } from '../../src/capture/projects.ts'
import { ServiceError } from '../../src/errors.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { openProjectKeys, type ProjectKeys } from '../../src/management/project-keys.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { freshPostgres, silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const organization = '00000000-0000-4000-8000-000000000001'

async function addProject(postgres: Postgres, id: number, apiKey: string): Promise<void> {
  await postgres.query(
    `insert into organization (id, name, slug) values ($1, 'One', 'one') on conflict do nothing`,
    [organization],
  )
  await postgres.query(
    `insert into project (id, uuid, organization_id, api_token) values ($1, gen_random_uuid(), $2, $3)`,
    [id, organization, apiKey],
  )
}

function nowhere(t: Test): Postgres {
  const postgres = openPostgres({ connectionString: 'postgresql://spate@127.0.0.1:1/spate', log })
  t.teardown(() => postgres.close())
  return postgres
}

async function openKeys(
  t: Test,
  postgres: Postgres,
  file: string,
  clock: Clock = systemClock,
): Promise<ProjectKeys> {
  const keys = await openProjectKeys({ postgres, file, log, clock })
  t.teardown(() => keys.close())
  return keys
}

t.test('holds the projects of the database and writes its copy', async (t) => {
  const postgres = await freshPostgres(t)
  await addProject(postgres, 7, 'phc_a')
  const file = join(t.testdir(), 'keys.snapshot')
  const keys = await openKeys(t, postgres, file)
  const expected = { id: 7, apiKey: 'phc_a', anonymizeIps: false, overQuota: false }
  t.same(findProject(keys.snapshot(), 'phc_a'), expected)
  t.equal(findProject(keys.snapshot(), 'phc_b'), null)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(readFileSync(file, 'utf8'), /^[0-9a-f]{8}\n\[\{"id":7,/)
})

t.test('is told of a new, a changed and a deleted project', async (t) => {
  const postgres = await freshPostgres(t)
  await addProject(postgres, 1, 'phc_a')
  const keys = await openKeys(t, postgres, join(t.testdir(), 'keys.snapshot'))
  // Each of them long before everything is read again, which is once a minute.
  await addProject(postgres, 2, 'phc_b')
  await until(() => findProject(keys.snapshot(), 'phc_b') !== null)
  await postgres.query('update project set anonymize_ips = true where id = 1')
  await until(() => findProject(keys.snapshot(), 'phc_a')?.anonymizeIps === true)
  await postgres.query('delete from organization')
  await until(() => findProject(keys.snapshot(), 'phc_a') === null)
  t.pass('all three')
})

t.test('asks the database for a key it does not hold', async (t) => {
  const postgres = await freshPostgres(t)
  const deaf: Postgres = { ...postgres, listen: () => ({ close: async () => {} }) }
  const keys = await openKeys(t, deaf, join(t.testdir(), 'keys.snapshot'))
  t.equal(await keys.lookUp('phc_b'), 'unknown')
  await addProject(postgres, 1, 'phc_a')
  t.equal(findProject(keys.snapshot(), 'phc_a'), null)
  t.equal(await keys.lookUp('phc_a'), 'found')
  t.equal(findProject(keys.snapshot(), 'phc_a')?.id, 1)
})

async function addUsage(
  postgres: Postgres,
  day: string,
  billable: number,
  historical = 0,
  projectId = 1,
): Promise<void> {
  await postgres.query('insert into usage_daily values ($1, $2, $3, $4)', [
    projectId,
    day,
    billable,
    historical,
  ])
}

/** A project with a quota of 10 events, at the end of May 2024. */
async function openQuota(t: Test, file = join(t.testdir(), 'keys.snapshot')) {
  const postgres = await freshPostgres(t)
  await addProject(postgres, 1, 'phc_a')
  await addProject(postgres, 2, 'phc_b')
  await postgres.query('update project set monthly_event_quota = 10 where id = 1')
  const moving = { ms: Date.UTC(2024, 4, 31, 23, 59) }
  const clock: Clock = { nowMs: () => moving.ms, monotonicMs: systemClock.monotonicMs }
  const keys = await openKeys(t, postgres, file, clock)
  const isOver = (apiKey = 'phc_a'): boolean | undefined => findProject(keys.snapshot(), apiKey)?.overQuota
  return { postgres, moving, keys, isOver, file }
}

t.test(
  'a project is over its quota when the month has reached it, and no longer when it is raised',
  async (t) => {
    const { postgres, keys, isOver } = await openQuota(t)
    await addUsage(postgres, '2024-04-30', 1000)
    await addUsage(postgres, '2024-06-01', 1000)
    await addUsage(postgres, '2024-05-01', 9, 1000)
    await addUsage(postgres, '2024-05-01', 1000, 0, 2)
    // Any change of a project makes the usage be read.
    await postgres.query(`update project set name = 'read' where id = 2`)
    await addProject(postgres, 3, 'phc_c')
    await until(() => findProject(keys.snapshot(), 'phc_c') !== null)
    t.same([isOver(), isOver('phc_b')], [false, false])
    await addUsage(postgres, '2024-05-31', 1)
    keys.usageMayHaveGrown()
    keys.usageMayHaveGrown()
    await until(() => isOver() === true)
    t.equal(isOver('phc_b'), false)
    await postgres.query('update project set monthly_event_quota = 11 where id = 1')
    await until(() => isOver() === false)
    await postgres.query('update project set monthly_event_quota = 0 where id = 1')
    await until(() => isOver() === true)
  },
)

t.test('a new month begins within its quota', async (t) => {
  const { postgres, moving, isOver } = await openQuota(t)
  await addUsage(postgres, '2024-05-31', 10)
  await postgres.query(`update project set name = 'read'`)
  await until(() => isOver() === true)
  moving.ms = Date.UTC(2024, 5, 1)
  await postgres.query(`update project set name = 'read again'`)
  await until(() => isOver() === false)
})

t.test(
  'nobody is over a quota at a start without a database, or in a month that it has not seen',
  async (t) => {
    const { postgres, moving, isOver, file } = await openQuota(t)
    await addUsage(postgres, '2024-05-31', 10)
    await postgres.query(`update project set name = 'read'`)
    await until(() => isOver() === true)
    const later = await openKeys(t, nowhere(t), file)
    t.equal(findProject(later.snapshot(), 'phc_a')?.overQuota, false)

    let isDown = false
    const failing: Postgres = {
      ...postgres,
      query: (...statement) => {
        if (isDown) throw new ServiceError('postgres_unavailable')
        return postgres.query(...statement)
      },
    }
    const clock: Clock = { nowMs: () => moving.ms, monotonicMs: systemClock.monotonicMs }
    const keys = await openKeys(t, failing, join(t.testdir(), 'keys.snapshot'), clock)
    const isStillOver = () => findProject(keys.snapshot(), 'phc_a')?.overQuota
    isDown = true
    keys.usageMayHaveGrown()
    t.equal(isStillOver(), true)
    moving.ms = Date.UTC(2024, 5, 1)
    keys.usageMayHaveGrown()
    await until(() => isStillOver() === false)
  },
)

t.test('goes on from its copy while the database is down, and never calls a key unknown', async (t) => {
  const postgres = await freshPostgres(t)
  await addProject(postgres, 1, 'phc_a')
  const file = join(t.testdir(), 'keys.snapshot')
  await openKeys(t, postgres, file)
  const keys = await openKeys(t, nowhere(t), file)
  t.equal(findProject(keys.snapshot(), 'phc_a')?.id, 1)
  t.equal(await keys.lookUp('phc_a'), 'found')
  t.equal(await keys.lookUp('phc_b'), 'unavailable')
})

t.test('does not believe a copy that was damaged', async (t) => {
  const postgres = await freshPostgres(t)
  await addProject(postgres, 1, 'phc_a')
  const file = join(t.testdir(), 'keys.snapshot')
  await openKeys(t, postgres, file)
  writeFileSync(file, readFileSync(file, 'utf8').replace('phc_a', 'phc_b'))
  const keys = await openKeys(t, nowhere(t), file)
  t.equal(findProject(keys.snapshot(), 'phc_b'), null)
  t.equal(await keys.lookUp('phc_b'), 'unavailable')
})

t.test('is empty on a first start without a database', async (t) => {
  const keys = await openKeys(t, nowhere(t), join(t.testdir(), 'keys.snapshot'))
  t.equal(await keys.lookUp('phc_a'), 'unavailable')
})
