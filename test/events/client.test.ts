import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeCommand } from '../../src/consumer/command.ts'
import type { Positions } from '../../src/consumer/offset.ts'
import { isServiceError, type ServiceError } from '../../src/errors.ts'
import { type Events, type EventsOptions, openEvents } from '../../src/events/client.ts'
import type { EventFilter } from '../../src/events/list.ts'
import { openJournal } from '../../src/journal/client.ts'
import type { Appended, Journal, Lane } from '../../src/journal/journal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { until } from '../support/until.ts'
import { makeBatch, uuidOf } from './make-batch.ts'

interface Server {
  readonly dataDir: string
  readonly journal: Journal
  readonly events: Events
  readonly failures: ServiceError[]
  readonly lines: string[]
}

async function start(dataDir: string, change: Partial<EventsOptions> = {}): Promise<Server> {
  const journalDir = join(dataDir, 'journal')
  const journal = await openJournal({ dir: journalDir, quarantineDir: join(dataDir, 'quarantine') })
  const lines: string[] = []
  const write = (_fields: object, message: string) => lines.push(message)
  const events = openEvents({
    dataDir,
    journalDir,
    journal,
    memoryLimitBytes: 256 * 1024 * 1024,
    threads: 2,
    log: { info: write, warn: write, error: write },
    clock: systemClock,
    killAt: null,
    ...change,
  })
  const failures: ServiceError[] = []
  events.onFailed((error) => failures.push(error))
  return { dataDir, journal, events, failures, lines }
}

async function stop(server: Server): Promise<void> {
  await server.journal.close()
  await server.events.close()
}

/** Appends one record of `count` events whose uuids end in `first`, `first` + 1, … */
function append(
  { journal }: Server,
  first: number,
  count: number,
  lane: Lane = 'realtime',
): Promise<Appended> {
  const rows = Array.from({ length: count }, (_, i) => ({
    uuid: uuidOf(first + i),
    timestampMicros: first + i,
  }))
  const dedupKeys = new Uint32Array(count * 2)
  for (let i = 0; i < count; i++) dedupKeys.set([first + i + 1, 1], i * 2)
  const payload = makeBatch({ rows, historical: lane === 'historical' })
  return journal.append(lane, [{ kind: 'events', payload, eventCount: count, dedupKeys }])
}

const everything: EventFilter = {
  projectId: 1,
  event: null,
  distinctId: null,
  personId: null,
  afterMicros: null,
  beforeMicros: null,
  properties: [],
  limit: 1000,
  cursor: null,
}

async function count(events: Events): Promise<string> {
  const { rows } = await events.query('select count(*), count(distinct uuid) from events')
  return `${rows[0]?.[0]} of ${rows[0]?.[1]}`
}

t.test('makes what the journal has committed readable', async (t) => {
  const server = await start(t.testdir())
  t.teardown(() => stop(server))
  const { events } = server

  const first = await append(server, 0, 3)
  const second = await append(server, 100, 2, 'historical')
  await events.waitUntilApplied('realtime', first.end)
  await events.waitUntilApplied('historical', second.end)

  const page = await events.listEvents(everything)
  t.strictSame(
    page.events.map((event) => event.uuid),
    [101, 100, 2, 1, 0].map(uuidOf),
  )
  t.match(events.state(), {
    isReady: true,
    reason: null,
    applied: { realtime: first.end, historical: second.end },
    checkpointed: null,
    lagBytes: { realtime: 0, historical: 0 },
    counts: { events: 5, duplicates: 0, quarantined: 0 },
    lastTransaction: { rows: Number, ms: Number },
  })
  t.strictSame(server.failures, [])
})

t.test('keeps up by itself, without anybody waiting', async (t) => {
  const server = await start(t.testdir())
  t.teardown(() => stop(server))
  for (let i = 0; i < 20; i++) {
    const { end } = await append(server, i * 10, 10)
    if (i % 5 === 0) await until(() => server.events.state().applied.realtime === end)
  }
  await until(() => server.events.state().counts.events === 200)
  t.equal(await count(server.events), '200 of 200')
})

t.test('applies events once, commands too, and goes on after a restart', async (t) => {
  const dir = t.testdir()
  const first = await start(dir)
  await append(first, 0, 100)
  const again = await append(first, 50, 100)
  t.equal(again.duplicateCount, 50)
  const checkpoints: Positions[] = []
  first.events.onCheckpoint((checkpointed) => checkpoints.push(checkpointed))
  await stop(first)
  // Closing has loaded what was left and checkpointed.
  t.match(checkpoints, [{ realtime: again.end }])
  t.strictSame(
    readdirSync(dir).filter((name) => name.endsWith('.wal')),
    [],
  )

  const second = await start(dir)
  t.teardown(() => stop(second))
  await append(second, 1000, 10)
  const payload = encodeCommand({ command: 'delete_project', projectId: 2 })
  const command = await second.journal.append('realtime', [
    { kind: 'command', payload, eventCount: 0, dedupKeys: null },
  ])
  await second.events.waitUntilApplied('realtime', command.end)
  t.equal(await count(second.events), '160 of 160')
  t.strictSame(second.events.state().counts, { events: 160, duplicates: 50, quarantined: 0 })
  t.strictSame((await second.events.query('select project_id from deleted_project')).rows, [[2]])
})

t.test('says that it is not ready before it is open and after it is closed', async (t) => {
  const server = await start(t.testdir())
  t.equal(server.events.state().isReady, false)
  const early = await server.events.listEvents(everything).catch((error: unknown) => error)
  t.ok(isServiceError(early, 'events_unavailable'))

  await until(() => server.events.state().isReady)
  t.strictSame(await server.events.listEvents(everything), { events: [], next: null })
  const never = server.events.waitUntilApplied('realtime', server.journal.state().lanes.realtime.committed)
  await never
  const future = server.events
    .waitUntilApplied('realtime', (server.journal.state().lanes.realtime.committed + 1) as Appended['end'])
    .catch((error: unknown) => error)
  await stop(server)
  t.ok(isServiceError(await future, 'stopping'))
  const late = await server.events.listEvents(everything).catch((error: unknown) => error)
  t.ok(isServiceError(late, 'events_unavailable'))
  t.strictSame(server.failures, [])
})

t.test('answers reads_overloaded when too many queries wait', async (t) => {
  const server = await start(t.testdir())
  t.teardown(() => stop(server))
  await until(() => server.events.state().isReady)

  const slow = 'select count(*) from range(3000000) where range % 7 = $1'
  const reads = Array.from({ length: 80 }, () => server.events.query(slow, [3]))
  const results = await Promise.allSettled(reads)

  const refused = results.filter((result) => result.status === 'rejected')
  t.equal(refused.length, 80 - 4 - 64)
  t.ok(refused.every((result) => isServiceError(result.reason, 'reads_overloaded')))
})

t.test('fails with a code when the store cannot be opened', async (t) => {
  const dir = t.testdir()
  const first = await start(dir)
  await append(first, 0, 1)
  await stop(first)

  const state = { ...first.journal.state(), epoch: uuidOf(77) }
  const server = await start(dir, { journal: { state: () => state, onCommitted: () => {} } })
  t.teardown(() => stop(server))
  const { events } = server
  const failure = await new Promise<ServiceError>((resolve) => events.onFailed(resolve))
  t.equal(failure.code, 'lineage_foreign')
  t.match(events.state(), { isReady: false, reason: /the journal here is/ })
})

t.test('says what keeps failing while it is tried again, and still answers reads', async (t) => {
  const dir = t.testdir()
  const first = await start(dir)
  await first.events.waitUntilApplied('realtime', (await append(first, 0, 1)).end)
  await stop(first)
  // The disk holds a folder where a segment was: reading it fails, now and later.
  const folder = join(dir, 'journal', 'realtime')
  const segment = readdirSync(folder).find((name) => name.endsWith('.seg')) ?? ''
  rmSync(join(folder, segment))
  mkdirSync(join(folder, segment))
  const { journal } = first
  const state = journal.state()
  const committed = (state.lanes.realtime.committed + 64) as Appended['end']
  const lane = { ...state.lanes.realtime, committed }
  const grown = {
    state: () => ({ ...state, lanes: { ...state.lanes, realtime: lane } }),
    onCommitted: () => {},
  }
  const write = () => {}
  const events = openEvents({
    dataDir: dir,
    journalDir: join(dir, 'journal'),
    journal: grown,
    memoryLimitBytes: 256 * 1024 * 1024,
    threads: 2,
    log: { info: write, warn: write, error: write },
    clock: systemClock,
    killAt: null,
  })
  t.teardown(() => events.close())
  await until(() => /loading fails again and again/.test(events.state().reason ?? ''))
  t.equal((await events.listEvents(everything)).events.length, 1)
})

t.test('stops loading, and only that, when the journal has lost what the store needs', async (t) => {
  const dir = t.testdir()
  const journal = {
    state: () => {
      const lane = {
        oldest: 64,
        committed: 128,
        queuedBytes: 0,
        storedBytes: 0,
        damagedBytes: 0,
        isFull: false,
        commitCount: 0,
        commitMsTotal: 0,
      }
      return { epoch: uuidOf(1), lanes: { realtime: lane, historical: lane } } as ReturnType<Journal['state']>
    },
    onCommitted: () => {},
  }
  const server = await start(dir, { journal })
  t.teardown(() => stop(server))
  await until(() => server.events.state().isReady)
  t.match(server.events.state().reason, /the journal's realtime lane begins at 64/)
  t.strictSame(await server.events.listEvents(everything), { events: [], next: null })
  const waiting = await server.events
    .waitUntilApplied('realtime', 128 as Appended['end'])
    .catch((error: unknown) => error)
  t.ok(isServiceError(waiting, 'events_unavailable'))
})
