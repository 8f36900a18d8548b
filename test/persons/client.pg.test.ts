import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type EventBatch, openEventBatch } from '../../src/capture/event-batch.ts'
import type { Positions } from '../../src/consumer/offset.ts'
import { isServiceError, type ServiceError } from '../../src/errors.ts'
import { openJournal } from '../../src/journal/client.ts'
import type { Appended, Position } from '../../src/journal/journal.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { openPersons, type PersonsOptions } from '../../src/persons/client.ts'
import { distinctIdHash, type Touched } from '../../src/persons/touched.ts'
import { openEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { findPostmaster } from '../../src/postgres/postmaster.ts'
import { makeBatch, uuidOf } from '../events/make-batch.ts'
import type { SentEvent } from '../identity/captured.ts'
import { MemoryStore } from '../identity/memory-store.ts'
import { clusterDir } from '../support/cluster.ts'
import { silentLog } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { dumpPostgres } from './postgres-dump.ts'
import { eventsOf } from './store-contract.ts'
import { addProjects, appendBatch, appendEvents, personsDatabase } from './world.ts'

async function start(
  t: Test,
  dataDir: string,
  connectionString: Promise<string> | string,
  clock: Clock = systemClock,
) {
  const journalDir = join(dataDir, 'journal')
  const quarantineDir = join(dataDir, 'quarantine')
  const journal = await openJournal({ dir: journalDir, quarantineDir })
  const lines: string[] = []
  const write = (_fields: object, message: string) => lines.push(message)
  const options: PersonsOptions = {
    journalDir,
    quarantineDir,
    spikeEventsPerSecond: 100,
    journal,
    connectionString: Promise.resolve(connectionString),
    log: { warn: write, error: write },
    clock,
    killAt: null,
  }
  const persons = openPersons(options)
  const failures: ServiceError[] = []
  persons.onFailed((error) => failures.push(error))
  const stop = async (): Promise<void> => {
    await journal.close()
    await persons.close()
  }
  t.teardown(stop)
  return { dataDir, journal, persons, options, failures, lines, stop }
}

const visit = (n: number): SentEvent[] => [
  { event: '$pageview', distinct_id: `device ${n}`, properties: { utm_source: `s${n}` } },
  {
    event: '$identify',
    distinct_id: `user ${n % 5}`,
    properties: { $anon_distinct_id: `device ${n}`, $set: { n } },
  },
  {
    event: '$groupidentify',
    distinct_id: `user ${n % 5}`,
    properties: { $group_type: 'company', $group_key: `c${n % 2}`, $group_set: { n } },
  },
]

/** Visits with uuids, so that a second capture of them makes the same events. */
function visits(count: number): SentEvent[][] {
  return Array.from({ length: count }, (_, n) =>
    visit(n).map((event, i) => ({
      uuid: `00000000-0000-7000-8000-${String(n * 10 + i).padStart(12, '0')}`,
      ...event,
    })),
  )
}

function folded(batches: readonly SentEvent[][]): unknown {
  const memory = new MemoryStore(1, 2)
  for (const events of batches) memory.step(eventsOf(events))
  return memory.dump()
}

t.test('turns what the journal has committed into persons, and goes on after a restart', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const first = await start(t, t.testdir(), connectionString)
  const applied: Positions[] = []
  first.persons.onApplied((positions) => applied.push(positions))
  const batches = visits(40)
  let last: Appended['end'] | null = null
  for (const events of batches.slice(0, 30)) last = (await appendEvents(first.journal, events)).end
  await first.persons.waitUntilApplied('realtime', last ?? (0 as Position))
  t.match(first.persons.state(), {
    reason: null,
    quarantined: 0,
    applied: { realtime: last },
    lagBytes: { realtime: 0, historical: 0 },
    lastTransaction: { events: Number, ms: Number },
  })
  t.same(applied.at(-1), { realtime: last, historical: 0 })
  t.same(await dumpPostgres(postgres), folded(batches.slice(0, 30)))
  for (const events of batches.slice(30, 35)) await appendEvents(first.journal, events)
  // A stop applies what is committed.
  await first.stop()
  t.same(await dumpPostgres(postgres), folded(batches.slice(0, 35)))

  const second = await start(t, first.dataDir, connectionString)
  for (const events of batches.slice(35)) last = (await appendEvents(second.journal, events)).end
  await second.persons.waitUntilApplied('realtime', last ?? (0 as Position))
  t.same(await dumpPostgres(postgres), folded(batches))
  t.same([...first.failures, ...second.failures], [])
  t.same([...first.lines, ...second.lines], [])
})

t.test('tells what a step changed before anybody hears that it is applied', async (t) => {
  const { connectionString } = await personsDatabase(t)
  const { persons, journal } = await start(t, t.testdir(), connectionString)
  const told: [touched: Touched, appliedBefore: number][] = []
  persons.onTouched((touched) => told.push([touched, persons.state().applied.realtime]))
  const { end } = await appendEvents(journal, visits(1)[0] ?? [])
  await persons.waitUntilApplied('realtime', end)
  const atFirst = told[0]
  t.same(atFirst, [null, 0], 'anything may have changed before the store was taken')
  const [touched, appliedBefore] = told.find(([one]) => one !== null && one.length > 0) ?? [null, end]
  t.ok(touched?.includes(distinctIdHash(1, 'device 0')))
  t.ok(appliedBefore < end)
})

t.test('an event that Postgres cannot hold is set aside alone', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const server = await start(t, t.testdir(), connectionString)
  await appendEvents(server.journal, visits(1)[0] ?? [])
  // No client can send this: capture replaces NUL.
  const poison: EventBatch = openEventBatch(
    makeBatch({
      rows: ['fine', 'a\0b', 'fine too'].map((distinctId, i) => ({ distinctId, uuid: uuidOf(900 + i) })),
    }),
  )
  const { position, end } = await appendBatch(server.journal, poison)
  await server.persons.waitUntilApplied('realtime', end)
  const ids = await postgres.query<{ distinct_id: string }>(
    `select distinct_id from person_distinct_id order by distinct_id`,
  )
  t.same(
    ids.rows.map((row) => row.distinct_id),
    ['device 0', 'fine', 'fine too', 'user 0'],
  )
  const { rows } = await postgres.query(
    'select project_id, lane, position, index, file from person_quarantine',
  )
  const file = `person-realtime-${position}-1`
  t.same(rows, [{ project_id: 1, lane: 'realtime', position, index: 1, file }])
  t.same(readdirSync(join(server.dataDir, 'quarantine')), [file])
  t.equal(server.persons.state().quarantined, 1)
  t.match(server.lines.at(-1), /invalid byte sequence/)
})

t.test('a second consumer waits, changes nothing, and takes over when the first has gone', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  const first = await start(t, t.testdir(), connectionString)
  const batches = visits(3)
  for (const events of batches) {
    const { end } = await appendEvents(first.journal, events)
    await first.persons.waitUntilApplied('realtime', end)
  }
  const before = await dumpPostgres(postgres)

  const second = openPersons(first.options)
  t.teardown(() => second.close())
  await until(() => second.state().reason === 'another Spate works on the persons of this database')
  t.same(await dumpPostgres(postgres), before)
  const end = first.journal.state().lanes.realtime.committed
  await first.persons.close()
  await second.waitUntilApplied('realtime', end)
  t.same(await dumpPostgres(postgres), before)
  t.equal(second.state().reason, null)
})

t.test('a database of another journal ends it', async (t) => {
  const { connectionString } = await personsDatabase(t)
  const first = await start(t, t.testdir(), connectionString)
  await until(() => first.persons.state().reason === null)
  await first.stop()
  const second = await start(t, join(t.testdir(), 'other'), connectionString)
  await until(() => second.failures.length > 0)
  t.equal(second.failures[0]?.code, 'lineage_foreign')
})

t.test('while there is no Postgres it says so, waits, and closes at once', async (t) => {
  const never = await start(t, t.testdir(), new Promise<string>(() => {}))
  t.equal(never.persons.state().reason, 'Postgres is still starting')
  const { end } = await appendEvents(never.journal, visits(1)[0] ?? [])
  t.equal(never.persons.state().lagBytes.realtime, end)
  const waiting = never.persons.waitUntilApplied('realtime', end).catch((error: unknown) => error)
  await never.stop()
  t.ok(isServiceError(await waiting, 'stopping'))

  const nowhere = await start(t, join(t.testdir(), 'nowhere'), 'postgresql://spate@127.0.0.1:1/spate')
  await until(() => /ECONNREFUSED/.test(nowhere.persons.state().reason ?? ''))
  await nowhere.stop()
  t.same(nowhere.failures, [])
})

t.test('Postgres killed again and again under load: everything is applied once', async (t) => {
  const dir = clusterDir(t)
  const embedded = await openEmbeddedPostgres({ dir, log: silentLog })
  t.teardown(() => embedded.stop())
  const postgres = openPostgres({ connectionString: embedded.connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  await migrate({ postgres, log: silentLog })
  await addProjects(postgres)
  const server = await start(t, t.testdir(), embedded.connectionString)
  const batches = visits(120)
  let end = 0 as Position // the start of the lane
  for (const [n, events] of batches.entries()) {
    end = (await appendEvents(server.journal, events)).end
    if (n % 40 !== 20) continue
    await until(() => server.persons.state().applied.realtime > 0)
    const pid = await findPostmaster(dir)
    if (pid !== null) process.kill(pid, 'SIGKILL')
  }
  await server.persons.waitUntilApplied('realtime', end)
  t.same(await dumpPostgres(postgres), folded(batches))
  t.same(server.failures, [])
})

t.test('says so when Postgres has been silent for long, and takes it back when it answers', async (t) => {
  const { connectionString, postgres } = await personsDatabase(t)
  let pastMs = 0
  const clock = { nowMs: systemClock.nowMs, monotonicMs: () => systemClock.monotonicMs() + pastMs }
  const { journal, persons } = await start(t, t.testdir(), connectionString, clock)
  const { end } = await appendEvents(journal, [{ event: 'e', distinct_id: 'u' }])
  await persons.waitUntilApplied('realtime', end)
  const locking = await postgres.hold()
  t.teardown(() => locking.release(false))
  await locking.query('begin')
  await locking.query('lock table persons_progress in access exclusive mode')
  const { end: late } = await appendEvents(journal, [{ event: 'e', distinct_id: 'u' }])
  const waits = `select from pg_locks where not granted and relation = 'persons_progress'::regclass`
  await until(async () => (await locking.query(waits)).rowCount === 1)
  t.equal(persons.state().reason, null)
  pastMs = 10_000
  t.equal(persons.state().reason, 'Postgres has been busy with a step, or silent, for 10 s')
  await locking.query('rollback')
  await persons.waitUntilApplied('realtime', late)
  t.equal(persons.state().reason, null)
})
