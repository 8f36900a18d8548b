import t, { type Test } from 'tap'
import { readFacts } from '../../bench/persons-facts.ts'
import { type PersonsVerdict, PersonsVerifier } from '../../bench/persons-verifier.ts'
import type { StoredEvent } from '../../bench/stored-event.ts'
import { brokenPromises } from '../../bench/verdict.ts'
import { PostgresStore } from '../../src/persons/postgres-store.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { nowMs } from '../identity/captured.ts'
import { at, epoch, eventsOf, start, stepOf } from '../persons/store-contract.ts'
import { personsDatabase } from '../persons/world.ts'
import { silentLog } from '../support/postgres.ts'

const timestampMs = Date.UTC(2024, 3, 1)

function stored(event: string, distinctId: string, properties: StoredEvent['properties'] = {}): StoredEvent {
  return { event, distinctId, timestampMs, historical: false, elementsChain: '', properties }
}

/** A sign-up, a merge that is refused, a merge by force, and a group. */
const history = [
  stored('visited', 'anon', { $browser: 'Chrome', $groups: { team: 'red' } }),
  stored('visited', 'device', { $process_person_profile: false }),
  stored('$identify', 'anna', { $anon_distinct_id: 'anon', $set: { plan: 'free' } }),
  stored('$identify', 'bob', { $anon_distinct_id: 'device', $set_once: { plan: 'team' } }),
  stored('$identify', 'bob', { $anon_distinct_id: 'anna', $unset: ['plan'] }),
  stored('$merge_dangerously', 'bob', { alias: 'anna' }),
  stored('$identify', 'bob', { $anon_distinct_id: 'null' }),
  stored('$groupidentify', 'bob', { $group_type: 'company', $group_key: 'acme', $group_set: { seats: 5 } }),
]
const uuids = history.map((_, index) => `00000000-0000-7000-8000-00000000000${index}`)

// Applied once by the real store; each test judges it, or what is left after a fault was planted.
const { connectionString, postgres } = await personsDatabase(t)
const store = new PostgresStore({
  postgres: openPostgres({ connectionString, log: silentLog }),
  cacheBytesMax: 1_000_000,
  loadedBytesMax: 1_000_000,
  killAt: null,
})
t.teardown(() => store.close())
await store.take(epoch)
const timestamp = new Date(timestampMs).toISOString()
const sent = history.map(({ event, distinctId, properties }, index) => {
  return { uuid: uuids[index], event, distinct_id: distinctId, timestamp, properties }
})
await store.apply(stepOf(start, at(80), eventsOf(sent)))

/** Runs `sql`, judges, and undoes it. */
async function judgeDoctored(t: Test, sql: string, rows = history): Promise<PersonsVerdict> {
  const verifier = new PersonsVerifier(1)
  for (const [index, row] of rows.entries())
    verifier.row({ uuid: uuids[index] ?? '', receivedAtMs: nowMs, stored: row })
  const before = await readFacts(connectionString, 1)
  if (sql === '') return verifier.verdict(before)
  const session = await postgres.hold()
  t.teardown(() => session.release(true))
  // Facts are read over another connection, so the fault is committed and mended.
  const tables = ['person', 'person_distinct_id', 'person_override', 'project_group', 'usage_daily']
  for (const table of tables) await session.query(`create temp table kept_${table} as table ${table}`)
  await session.query(sql)
  const after = await readFacts(connectionString, 1)
  for (const table of tables) {
    await session.query(`delete from ${table}`)
    await session.query(`insert into ${table} table kept_${table}`)
    await session.query(`drop table kept_${table}`)
  }
  return verifier.verdict(after)
}

function faults({ missing, uninvited, wrong }: PersonsVerdict): object {
  return { missing, uninvited, wrong }
}

t.test('is content with persons that are what the events say', async (t) => {
  const verdict = await judgeDoctored(t, '')
  t.same(verdict, {
    personCount: 1,
    movedIds: 3,
    groupCount: 1,
    missing: 0,
    uninvited: 0,
    wrong: 0,
    samples: [],
  })
})

t.test('finds what is missing, what is too much, and what is wrong', async (t) => {
  const planted = [
    ['delete from person', { missing: 1, uninvited: 0, wrong: 0 }],
    ['update person set version = version + 1', { missing: 0, uninvited: 0, wrong: 1 }],
    [`update person set properties = properties || '{"a": 1}'`, { missing: 0, uninvited: 0, wrong: 1 }],
    ['update person set is_identified = false', { missing: 0, uninvited: 0, wrong: 1 }],
    [`delete from person_distinct_id where distinct_id = 'anna'`, { missing: 1, uninvited: 0, wrong: 0 }],
    [
      `insert into person_distinct_id values (1, 'eve', gen_random_uuid())`,
      { missing: 0, uninvited: 1, wrong: 0 },
    ],
    ['update person_override set person_uuid = born_id', { missing: 0, uninvited: 0, wrong: 3 }],
    [`update project_group set properties = '{}'`, { missing: 0, uninvited: 0, wrong: 1 }],
    ['update usage_daily set billable = billable + 1', { missing: 0, uninvited: 0, wrong: 1 }],
  ] as const
  for (const [sql, expected] of planted) t.same(faults(await judgeDoctored(t, sql)), expected, sql)
})

t.test('says what is wrong in words', async (t) => {
  const persons = await judgeDoctored(t, 'update usage_daily set billable = 9')
  const nothing = { requestCount: 0, eventCount: 0, acknowledgedEvents: 0, quarantinedEvents: 0, samples: [] }
  const faultless = { lost: 0, doubled: 0, altered: 0, uninvited: 0, torn: 0, misordered: 0 }
  const events = { ...nothing, ...faultless, unansweredRequests: 0, unansweredStored: 0 }
  t.same(brokenPromises({ ...events, persons }), [
    '1 facts of persons and groups are not what the events say',
    'usage 2024-05-01 is {"billable":9,"historical":0}, expected {"billable":8,"historical":0}',
  ])
})

t.test('minds the order of the journal', async (t) => {
  const [merge, refusal] = [history[5]!, history[4]!]
  const verdict = await judgeDoctored(t, '', [...history.slice(0, 4), merge, refusal, ...history.slice(6)])
  t.same(faults(verdict), { missing: 0, uninvited: 1, wrong: 1 })
})

t.test('finds events that reads show as those of another person, or of none, or of two', async (t) => {
  const verifier = new PersonsVerifier(1)
  for (const n of [1, 2, 3, 3]) verifier.read(`born ${n}`, `born ${n}`)
  verifier.read('born 4', 'somebody')
  verifier.read('born 5', null)
  const { wrong, samples } = verifier.verdict(
    new Map([['project', { ingested_event: false, has_group_types: false }]]),
  )
  t.equal(wrong, 3)
  t.same(samples, [
    'events of born 3 belong to several persons, expected born 3',
    'events of born 4 belong to somebody, expected born 4',
    'events of born 5 belong to null, expected born 5',
  ])
})
