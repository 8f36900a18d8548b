import t from 'tap'
import { type IngestionWarnings, openIngestionWarnings } from '../../src/management/ingestion-warnings.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { fillTenants } from '../api/world.ts'
import { freshDatabase, freshPostgres, silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

function open(postgres: Postgres, flushIntervalMs = 1_000_000) {
  const moving = { ms: Date.UTC(2024, 4, 1, 12) }
  const clock = { nowMs: () => moving.ms, monotonicMs: () => moving.ms }
  return { moving, warnings: openIngestionWarnings({ postgres, clock, log, flushIntervalMs }) }
}

function remark(reason: string, count: number, event = 'e') {
  return { reason, count, sample: { event, distinctId: 'd', detail: 'why' } }
}

async function stored(postgres: Postgres): Promise<unknown[]> {
  const { rows } = await postgres.query(
    'select project_id, kind, reason, count, first_seen, last_seen, sample from ingestion_warning order by 1, 2, 3',
  )
  return rows
}

t.test('adds up what it is told and adds it to what is stored', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const { warnings, moving } = open(postgres)
  t.teardown(() => warnings.close())
  warnings.record(1, 'drop', [remark('event_name_missing', 2), remark('uuid_invalid', 1)])
  await warnings.flush()
  moving.ms += 1500
  warnings.record(1, 'drop', [remark('event_name_missing', 3)])
  moving.ms += 1000
  warnings.record(1, 'drop', [remark('event_name_missing', 4, 'last\0\ud800')])
  warnings.record(2, 'warning', [remark('timestamp_missing', 1)])
  await warnings.flush()
  const sample = { event: 'e', distinct_id: 'd', detail: 'why' }
  const first = '2024-05-01T12:00:00Z'
  const last = '2024-05-01T12:00:02.500000Z'
  t.same(await stored(postgres), [
    {
      project_id: 1,
      kind: 'drop',
      reason: 'event_name_missing',
      count: 9,
      first_seen: first,
      last_seen: last,
      sample: { ...sample, event: 'last\ufffd\ufffd' },
    },
    {
      project_id: 1,
      kind: 'drop',
      reason: 'uuid_invalid',
      count: 1,
      first_seen: first,
      last_seen: first,
      sample,
    },
    {
      project_id: 2,
      kind: 'warning',
      reason: 'timestamp_missing',
      count: 1,
      first_seen: last,
      last_seen: last,
      sample,
    },
  ])
})

t.test('writes by itself about once a second, and what is left at the end', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const { warnings } = open(postgres, 5)
  warnings.record(1, 'drop', [remark('uuid_invalid', 1)])
  await until(async () => (await stored(postgres)).length === 1)
  await warnings.close()
  const again: { warnings: IngestionWarnings } = open(postgres)
  again.warnings.record(1, 'drop', [remark('uuid_invalid', 1)])
  await again.warnings.close()
  t.match(await stored(postgres), [{ count: 2 }])
})

t.test('leaves out a project that has gone', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const { warnings } = open(postgres)
  warnings.record(99, 'drop', [remark('uuid_invalid', 1)])
  warnings.record(1, 'drop', [remark('uuid_invalid', 1)])
  await warnings.close()
  t.match(await stored(postgres), [{ project_id: 1 }])
})

t.test('keeps counting while Postgres is away', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log })
  t.teardown(() => postgres.close())
  await fillTenants(postgres)
  let isAway = true
  const flaky: Postgres = {
    ...postgres,
    query: (sql, params) => (isAway ? nowhere.query(sql, params) : postgres.query(sql, params)),
  }
  const nowhere = openPostgres({ connectionString: 'postgresql://spate@127.0.0.1:1/spate', log })
  t.teardown(() => nowhere.close())
  const { warnings } = open(flaky)
  warnings.record(1, 'drop', [remark('uuid_invalid', 2)])
  const failed = warnings.flush()
  warnings.record(1, 'drop', [remark('uuid_invalid', 3, 'later')])
  await t.rejects(failed, { code: 'postgres_unavailable' })
  isAway = false
  await warnings.close()
  t.match(await stored(postgres), [{ count: 5, sample: { event: 'later' } }])
})
