import fc from 'fast-check'
import t, { type Test } from 'tap'
import { PostgresStore, storePool } from '../../src/persons/postgres-store.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { history } from '../identity/histories.ts'
import { silentLog } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { compareRows, stepsOf } from './compare-rows.ts'
import { dumpPostgres } from './postgres-dump.ts'
import { at, epoch, eventsOf, start, stepOf, takeAgain, testStore } from './store-contract.ts'
import { personsDatabase } from './world.ts'

function openStore(
  connectionString: string,
  limits: { loadedBytesMax?: number; cacheBytesMax?: number } = {},
) {
  const postgres = openPostgres({ connectionString, log: silentLog, ...storePool })
  return new PostgresStore({
    postgres,
    cacheBytesMax: 1_000_000,
    loadedBytesMax: 1_000_000,
    killAt: null,
    ...limits,
  })
}

testStore(t, async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  return { open: () => openStore(connectionString), dump: () => dumpPostgres(postgres) }
})

t.test('random histories leave the same rows as in memory, and an outbox that says the same', async (t) => {
  const database = await personsDatabase(t)
  const store = openStore(database.connectionString, { cacheBytesMax: 4000 })
  const samples = fc.sample(history(30), { numRuns: 25, seed: 7 })
  await compareRows(t, database, store, samples.map(stepsOf))
})

t.test('a consumer whose place was taken behind its back changes nothing', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString)
  t.teardown(() => store.close())
  await store.take(epoch)
  await postgres.query('update persons_progress set realtime_index = 1')
  const step = stepOf(start, at(80), eventsOf([{ event: 'e', distinct_id: 'u' }]))
  await t.rejects(store.apply(step), { code: 'store_fenced' })
  t.same((await postgres.query('select * from person')).rows, [])
})

t.test('refuses a step whose persons are too large together, and takes them one by one', async (t) => {
  const { connectionString } = await personsDatabase(t)
  const first = openStore(connectionString)
  await first.take(epoch)
  const born = ['a', 'b'].map((id) => ({
    event: '$set',
    distinct_id: id,
    $set: { text: 'x'.repeat(600) },
  }))
  await first.apply(stepOf(start, at(80), eventsOf(born)))
  await first.close()

  const store = openStore(connectionString, { loadedBytesMax: 1000 })
  t.teardown(() => store.close())
  await store.take(epoch)
  const change = (id: string) => ({ event: '$set', distinct_id: id, $set: { n: 1 } })
  t.equal(await store.apply(stepOf(at(80), at(160), eventsOf([change('a'), change('b')]))), false)
  t.equal(await store.apply(stepOf(at(80), at(120), eventsOf([change('a')]))), true)
  t.equal(await store.apply(stepOf(at(120), at(160), eventsOf([change('b')]))), true)
})

t.test(
  'a store that has just started knows by its row what a person has seen, until that changes',
  async (t) => {
    const { connectionString, postgres } = await personsDatabase(t)
    const store = openStore(connectionString)
    t.teardown(() => store.close())
    let place = 0
    const restartAndApply = async (...plans: string[]): Promise<unknown> => {
      await takeAgain(store)
      const events = plans.map((plan) => ({ event: 'page', distinct_id: 'u', $set: { plan } }))
      await store.apply(stepOf(at(place), at(place + 80), eventsOf(events)))
      place += 80
      return (await postgres.query<{ plan: unknown }>(`select properties -> 'plan' as plan from person`))
        .rows[0]?.plan
    }
    t.equal(await restartAndApply('free'), 'free')
    // Only who looks at the properties finds that they are others.
    await postgres.query(`update person set properties = '{}'`)
    t.equal(await restartAndApply('free'), null)
    t.equal(await restartAndApply('paid'), 'paid')
    t.equal(await restartAndApply('free'), 'free')
    t.equal(await restartAndApply('paid', 'free', 'paid'), 'paid')
  },
)

t.test('steps that were planned while tables were empty read no whole table', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString, { cacheBytesMax: 0 })
  await store.take(epoch)
  const events = (step: number) =>
    Array.from({ length: 40 }, (_, n) => [
      { event: 'e', distinct_id: `d${n} ${step}` },
      { event: '$identify', distinct_id: `u${n}`, properties: { $anon_distinct_id: `d${n} ${step}` } },
      { event: '$set', distinct_id: `u${n}`, $set: { step } },
      {
        event: '$groupidentify',
        distinct_id: `u${n}`,
        properties: { $group_type: 'company', $group_key: `c${n}`, $group_set: { step } },
      },
    ]).flat()
  for (let step = 0; step < 3; step++)
    await store.apply(stepOf(at(step * 80), at(step * 80 + 80), eventsOf(events(step))))
  // What a session has read is counted at the latest when it ends.
  await store.close()
  const read = async () =>
    await postgres.query<{ relname: string; idx_scan: number; seq_tup_read: number }>(
      `select relname, idx_scan, seq_tup_read from pg_stat_user_tables
       where relname ~ '^(person_[0-9]|person_distinct_id_[0-9]|project_group_[0-9]|person_override$)'`,
    )
  await until(async () => (await read()).rows.some(({ idx_scan }) => idx_scan > 0))
  t.same(
    (await read()).rows.filter(({ seq_tup_read }) => seq_tup_read > 0),
    [],
  )
})

t.test('a lost connection gives the store up; taken again it goes on', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString)
  t.teardown(() => store.close())
  await store.take(epoch)
  await postgres.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  )
  const step = stepOf(start, at(80), eventsOf([{ event: 'e', distinct_id: 'u' }]))
  await t.rejects(store.apply(step), { code: 'postgres_unavailable' })
  t.match(await takeAgain(store), { epoch, offsets: start })
  t.equal(await store.apply(step), true)
  t.equal((await postgres.query('select * from person')).rowCount, 1)
})

t.test('removes what flags remember of an id with the id', async (t: Test) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString)
  t.teardown(() => store.close())
  await store.take(epoch)
  await store.apply(stepOf(start, at(80), eventsOf([{ event: 'e', distinct_id: 'u' }])))
  await postgres.query(
    `insert into flag_hash_key_override (project_id, distinct_id, flag_key, hash_key)
     values (1, 'u', 'beta', 'h'), (1, 'v', 'beta', 'h')`,
  )
  const { rows } = await postgres.query<{ uuid: string }>('select uuid from person')
  const personUuid = rows[0]?.uuid ?? ''
  await store.apply(
    stepOf(at(80), at(160), [
      { kind: 'delete_person', projectId: 1, personUuid, deletesEvents: false, deletedAtMs: 0 },
      // The id is somebody else's by the end of the step.
      ...eventsOf([{ event: 'e', distinct_id: 'u' }]),
    ]),
  )
  t.equal((await postgres.query('select * from person_distinct_id')).rowCount, 1)
  t.same((await postgres.query('select distinct_id from flag_hash_key_override')).rows, [
    { distinct_id: 'v' },
  ])
})

t.test('rows say when they changed, and ids how often', async (t: Test) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString)
  t.teardown(() => store.close())
  await store.take(epoch)
  const apply = (place: number, nowMs: number, inputs: Parameters<typeof stepOf>[2]) =>
    store.apply({ ...stepOf(place === 0 ? start : at(place), at(place + 80), inputs), nowMs })
  const rowsOf = async (sql: string) => (await postgres.query(sql)).rows
  const people = `select distinct_id, id.version, id.changed_at as id, person.changed_at as person
    from person_distinct_id id join person on uuid = person_uuid order by 1`
  await apply(0, 1_000, eventsOf(['u', 'v'].map((distinct_id) => ({ event: 'e', distinct_id }))))
  await apply(80, 2_000, eventsOf([{ event: '$set', distinct_id: 'u', $set: { n: 1 } }]))
  const [one, two] = ['1970-01-01T00:00:01Z', '1970-01-01T00:00:02Z']
  const v = { distinct_id: 'v', version: 0, id: one, person: one }
  t.same(await rowsOf(people), [{ ...v, distinct_id: 'u', person: two }, v])
  await apply(
    160,
    3_000,
    eventsOf([{ event: '$merge_dangerously', distinct_id: 'u', properties: { alias: 'v' } }]),
  )
  const three = '1970-01-01T00:00:03Z'
  t.match(await rowsOf(people), [
    { version: 0, id: one, person: three },
    { version: 1, id: three, person: three },
  ])
  const gone = 'select distinct_id, version, changed_at from person_distinct_id_deleted order by 1'
  const deleteAll = async (place: number): Promise<void> => {
    const { rows } = await postgres.query<{ uuid: string }>('select uuid from person')
    const facts = { projectId: 1, deletesEvents: false, deletedAtMs: 0 }
    const inputs = rows.map(({ uuid }) => ({ kind: 'delete_person', personUuid: uuid, ...facts }) as const)
    await apply(place, 4_000, inputs)
  }
  await deleteAll(240)
  // Nobody is to be told.
  t.same(await rowsOf(gone), [])
  await postgres.query(
    `insert into batch_export (id, project_id, name, model, destination_type, destination_config, interval, created_at,
       last_updated_at) values (gen_random_uuid(), 1, 'p', 'persons', 'NoOp', '{}', 'hour', now(), now())`,
  )
  await apply(320, 4_000, eventsOf([{ event: 'e', distinct_id: 'u' }]))
  await deleteAll(400)
  t.same(await rowsOf(gone), [{ distinct_id: 'u', version: 1, changed_at: '1970-01-01T00:00:04.000002Z' }])
})

t.test('saves each person with what it has, whatever characters that holds', async (t: Test) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString)
  t.teardown(() => store.close())
  await store.take(epoch)
  const $set = { 'a\x1eb': '\x1e","\\\'', list: ['\x1e', { '\x1e': '{}' }], 'ü\n': null }
  const events = [{ $set }, { $set: {} }, { $set: { ...$set, own: 1 } }].map((sent, index) => ({
    event: '$set',
    distinct_id: `id ${index}\x1e`,
    ...sent,
  }))
  await store.apply(stepOf(start, at(80), eventsOf(events)))
  const { rows } = await postgres.query<{ distinct_id: string; properties: object }>(
    `select distinct_id, properties - '$creator_event_uuid' as properties
     from person join person_distinct_id on uuid = person_uuid order by 1`,
  )
  t.strictSame(
    rows,
    events.map(({ distinct_id, $set: properties }) => ({ distinct_id, properties })),
  )
})

t.test('static cohorts follow a person into another, and end with it', async (t: Test) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const store = openStore(connectionString)
  t.teardown(() => store.close())
  await store.take(epoch)
  const born = ['anon', 'user', 'lone'].map((id) => ({ event: 'e', distinct_id: id }))
  await store.apply(stepOf(start, at(80), eventsOf(born)))
  const uuidOf = async (distinctId: string): Promise<string> => {
    const { rows } = await postgres.query<{ person_uuid: string }>(
      'select person_uuid from person_distinct_id where distinct_id = $1',
      [distinctId],
    )
    return rows[0]!.person_uuid
  }
  const [anon, user, lone] = await Promise.all(['anon', 'user', 'lone'].map(uuidOf))
  await postgres.query(
    `insert into cohort_person (project_id, cohort_id, person_uuid) values
       (1, 10, $1), (1, 11, $1), (1, 11, $2), (1, 12, $2), (1, 10, $3), (2, 10, $1), (2, 10, $3)`,
    [anon, user, lone],
  )
  const members = async (): Promise<unknown[]> =>
    (
      await postgres.query(
        'select project_id, cohort_id, person_uuid from cohort_person order by project_id, cohort_id, person_uuid = $1',
        [user],
      )
    ).rows

  const identify = { event: '$identify', distinct_id: 'user', properties: { $anon_distinct_id: 'anon' } }
  await store.apply(stepOf(at(80), at(160), eventsOf([identify])))
  const row = (project_id: number, cohort_id: number, person_uuid: string | undefined) => ({
    project_id,
    cohort_id,
    person_uuid,
  })
  const others = [row(2, 10, anon), row(2, 10, lone)]
  t.match((await members()).slice(0, 4), [
    row(1, 10, lone),
    row(1, 10, user),
    row(1, 11, user),
    row(1, 12, user),
  ])
  t.equal((await members()).length, 6, 'a membership that both had is one')

  await store.apply(
    stepOf(at(160), at(240), [
      {
        kind: 'delete_person',
        projectId: 1,
        personUuid: lone ?? '',
        deletesEvents: false,
        deletedAtMs: 0,
      },
    ]),
  )
  t.same(
    (await members()).filter((member) => JSON.stringify(member).includes(lone ?? '?')),
    [row(2, 10, lone)],
    "another project's rows are not touched",
  )
  await store.apply(stepOf(at(240), at(320), [{ kind: 'delete_project', projectId: 1 }]))
  t.same(new Set(await members()), new Set(others))
})
