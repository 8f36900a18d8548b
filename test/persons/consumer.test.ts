import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ServiceError } from '../../src/errors.ts'
import { bornIdOf } from '../../src/identity/born-id.ts'
import { readOperations } from '../../src/identity/operations.ts'
import type { Lane } from '../../src/journal/journal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Consumer, type StepOutcome } from '../../src/persons/consumer.ts'
import { FoldError } from '../../src/persons/failure.ts'
import type { PersonsStep } from '../../src/persons/persons-store.ts'
import { FakeJournal } from '../events/world.ts'
import type { SentEvent } from '../identity/captured.ts'
import { MemoryStore } from '../identity/memory-store.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import { MemoryDatabase, MemoryPersonsStore } from './memory-persons-store.ts'
import { eventsOf } from './store-contract.ts'
import { appendEvents, deletePerson, deleteProject } from './world.ts'

/** A store that `fails` when it says so, before or after it has applied the step. */
class FailingStore extends MemoryPersonsStore {
  before: (step: PersonsStep) => Error | null = () => null
  after: (step: PersonsStep) => Error | null = () => null
  operationsMax = Number.POSITIVE_INFINITY

  override async apply(step: PersonsStep): Promise<boolean> {
    const failure = this.before(step)
    if (failure !== null) throw failure
    if (distinctIdsIn(step).length > this.operationsMax) return false
    const isApplied = await super.apply(step)
    const lost = this.after(step)
    if (lost !== null) throw lost
    return isApplied
  }
}

function distinctIdsIn({ inputs }: PersonsStep): string[] {
  return inputs.flatMap((input) =>
    input.kind === 'events' ? readOperations(input, null).operations.map(({ distinctId }) => distinctId) : [],
  )
}

function openWorld(t: Test, journal = new MemoryJournal(), database = new MemoryDatabase(1, 2)) {
  const quarantineDir = t.testdir()
  const store = new FailingStore(database)
  const consumer = new Consumer(store, journal.reader(), {
    quarantineDir,
    spikeEventsPerSecond: 100,
    clock: systemClock,
  })
  t.teardown(() => consumer.close())
  /** Steps until everything is applied; returns the outcomes. */
  const applyAll = async (): Promise<StepOutcome[]> => {
    const outcomes: StepOutcome[] = []
    for (;;) {
      const { lanes } = journal.state()
      const outcome = await consumer.step(journal.state())
      outcomes.push(outcome)
      if (outcome.kind === 'stopped' || outcome.kind === 'foreign') return outcomes
      if (outcome.kind !== 'applied') continue
      const { realtime, historical } = outcome.offsets
      const isThere = realtime.position === lanes.realtime.committed
      if (isThere && historical.position === lanes.historical.committed) return outcomes
    }
  }
  return { journal, database, store, consumer, quarantineDir, applyAll }
}

const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const plain = (n: number): SentEvent => ({ uuid: uuid(n), event: 'e', distinct_id: `u${n}` })
const identify = (n: number): SentEvent => ({
  uuid: uuid(1000 + n),
  event: '$identify',
  distinct_id: `user ${n}`,
  properties: { $anon_distinct_id: `u${n}`, $set: { n } },
})

t.test('applies both lanes, in order, and retries of clients not at all', async (t) => {
  const { journal, database, applyAll } = openWorld(t)
  const expected = new MemoryStore(1, 2)
  for (let n = 0; n < 10; n++) {
    const lane: Lane = n % 3 === 0 ? 'historical' : 'realtime'
    const events = [plain(n), identify(n), plain(n + 100)]
    expected.step(eventsOf(events, { historical: lane === 'historical' }))
    await appendEvents(journal, events, lane)
    await appendEvents(journal, events, lane)
  }
  const outcomes = await applyAll()
  t.same(database.tables.dump(), expected.dump())
  t.equal(database.tables.personCount(), 20)
  t.same(
    outcomes.map((outcome) => outcome.kind === 'applied' && outcome.events),
    [0, 60],
  )
})

t.test('goes on within a record, where another consumer left it', async (t) => {
  const world = openWorld(t)
  await appendEvents(
    world.journal,
    Array.from({ length: 10 }, (_, n) => plain(n)),
  )
  world.store.operationsMax = 3
  const outcomes = await world.applyAll()
  t.equal(world.database.tables.personCount(), 10)
  t.ok(outcomes.some((outcome) => outcome.kind === 'retry'))
  t.same(world.database.tables.dump(), bulk(10).dump())
})

function bulk(count: number): MemoryStore {
  const store = new MemoryStore(1, 2)
  store.step(eventsOf(Array.from({ length: count }, (_, n) => plain(n))))
  return store
}

t.test('tries again after errors that pass, and takes the store anew', async (t) => {
  const world = openWorld(t)
  await appendEvents(world.journal, [plain(1)])
  let left = 3
  world.store.before = () => (left-- > 0 ? new ServiceError('postgres_unavailable') : null)
  const outcomes = await world.applyAll()
  t.same(
    outcomes.map((outcome) => (outcome.kind === 'retry' ? outcome.again : outcome.kind)),
    ['applied', 'later', 'applied', 'later', 'applied', 'later', 'applied', 'applied'],
  )
  t.equal(world.database.tables.personCount(), 1)
})

t.test('takes less at a time after an error that may come from too much', async (t) => {
  const world = openWorld(t)
  await appendEvents(
    world.journal,
    Array.from({ length: 40 }, (_, n) => plain(n)),
  )
  world.store.before = (step) =>
    distinctIdsIn(step).length > 10 ? new ServiceError('postgres_unavailable') : null
  const outcomes = await world.applyAll()
  t.equal(world.database.tables.personCount(), 40)
  const first = outcomes.slice(0, 6).map((one) => (one.kind === 'applied' ? one.events : one.kind))
  t.same(first, [0, 'retry', 0, 'retry', 0, 10])
})

t.test('a commit whose answer is lost counts once', async (t) => {
  const world = openWorld(t)
  await appendEvents(world.journal, [plain(1), plain(2)])
  await appendEvents(world.journal, [plain(3)])
  let isLost = true
  world.store.after = () => {
    const error = isLost ? new ServiceError('postgres_unavailable') : null
    isLost = false
    return error
  }
  await world.applyAll()
  t.same(world.database.tables.usage, new Map([['1 2024-05-01', { billable: 3, historical: 0 }]]))
})

t.test('an event that cannot be applied costs only itself, in either lane', async (t) => {
  for (const lane of ['realtime', 'historical'] as const) {
    const world = openWorld(t)
    for (let n = 0; n < 5; n++)
      await appendEvents(world.journal, [plain(n), plain(n + 10)], n % 2 === 0 ? 'realtime' : 'historical')
    const poison = { ...plain(66), distinct_id: 'poison' }
    const { position } = await appendEvents(world.journal, [plain(77), poison, plain(88)], lane)
    world.store.before = (step) =>
      distinctIdsIn(step).includes('poison') ? new FoldError(new Error('no such shape')) : null

    const outcomes = await world.applyAll()

    t.equal(world.database.tables.personCount(), 12)
    const file = `person-${lane}-${position}-1`
    const error = 'the fold failed: no such shape'
    const offset = { position, index: 1 }
    t.same(world.database.setAside, [{ lane, offset, projectId: 1, uuid: uuid(66), error, file }])
    t.same(readdirSync(world.quarantineDir), [file])
    const head = readFileSync(join(world.quarantineDir, file), 'utf8').split('\n')[0] ?? ''
    t.match(JSON.parse(head), { event: 'e', distinctId: 'poison', uuid: uuid(66), projectId: 1 })
    t.match(
      outcomes.flatMap((outcome) => (outcome.kind === 'applied' ? outcome.remarks : [])),
      [/was set aside as person-.*: the fold failed: no such shape/],
    )
    t.equal(world.database.tables.usage.get('1 2024-05-01')?.billable, lane === 'realtime' ? 8 : 6)
  }
})

t.test('stops when nothing can be applied any more: then the events are not at fault', async (t) => {
  const world = openWorld(t)
  await appendEvents(
    world.journal,
    Array.from({ length: 50 }, (_, n) => plain(n)),
  )
  world.store.before = (step) => (distinctIdsIn(step).length > 0 ? new FoldError('broken') : null)
  const outcomes = await world.applyAll()
  t.match(outcomes.at(-1), { kind: 'stopped', detail: /20 events in a row/ })
  t.equal(world.database.setAside.length, 20)
  t.match(await world.consumer.step(world.journal.state()), { kind: 'stopped' })
})

t.test('an error that is nobody else’s stops it, and nothing is skipped', async (t) => {
  const world = openWorld(t)
  await appendEvents(world.journal, [plain(1)])
  world.store.before = () => new TypeError('a bug')
  t.match((await world.applyAll()).at(-1), { kind: 'stopped', detail: 'a bug' })
  t.equal(world.database.offsets.realtime.position, 0)
})

t.test('applies the deletion of a project in its place', async (t) => {
  const world = openWorld(t)
  await appendEvents(world.journal, [plain(1)], 'realtime', 2)
  await deleteProject(world.journal, 2)
  await appendEvents(world.journal, [plain(2)], 'realtime', 2)
  await appendEvents(world.journal, [plain(3)])
  await world.applyAll()
  t.equal(world.database.tables.personCount(1), 1)
  t.throws(() => world.database.tables.personCount(2))
})

t.test('applies the deletion of a person in its place, however often it comes', async (t) => {
  const world = openWorld(t)
  const anna = bornIdOf(1, 'anna')
  const said = (n: number, distinct_id: string) => ({ uuid: uuid(n), event: 'e', distinct_id })
  await appendEvents(world.journal, [said(1, 'anna'), said(2, 'bert')])
  await deletePerson(world.journal, anna, true, 5)
  await deletePerson(world.journal, anna, true, 6)
  await appendEvents(world.journal, [{ ...said(3, 'anna'), $set: { back: true } }])
  await world.applyAll()
  const { tables } = world.database
  t.match(tables.properties('anna'), { back: true })
  t.equal(tables.person('anna')?.uuid, anna)
  t.same([...tables.tombstones], [[anna, 5]])
})

t.test('a person that was merged into another before its deletion stays that other', async (t) => {
  const world = openWorld(t)
  const merge = (distinct_id: string, alias: string): SentEvent => ({
    uuid: uuid(9),
    event: '$merge_dangerously',
    distinct_id,
    properties: { alias },
  })
  await appendEvents(
    world.journal,
    ['a', 'b'].map((id, n) => ({ uuid: uuid(n), event: 'e', distinct_id: id })),
  )
  await appendEvents(world.journal, [merge('a', 'b')])
  await deletePerson(world.journal, bornIdOf(1, 'b'), true, 5)
  await world.applyAll()
  const { tables } = world.database
  t.same(tables.person('b')?.distinctIds, ['a', 'b'])
  t.equal(tables.tombstones.size, 0)
})

t.test('warns of a spike once, and not again because a step is repeated', async (t) => {
  const world = openWorld(t)
  const events = Array.from({ length: 1010 }, (_, n) => ({ uuid: uuid(n), event: 'e', distinct_id: 'loud' }))
  await appendEvents(world.journal, events)
  await appendEvents(world.journal, events, 'historical')
  let failures = 2
  world.store.before = () => (failures-- > 0 ? new ServiceError('postgres_unavailable') : null)
  const outcomes = await world.applyAll()
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  t.equal(sum(outcomes.map((outcome) => (outcome.kind === 'applied' ? outcome.spiking : 0))), 10)
  const { warnings } = world.database.tables
  t.equal(sum(warnings.map(({ count }) => count)), 10)
  t.match(warnings[0], { projectId: 1, reason: 'spike', sample: { event: 'e', distinctId: 'loud' } })
})

t.test('refuses a store of another journal, and waits for one that another process has', async (t) => {
  const world = openWorld(t)
  await new MemoryPersonsStore(world.database).take('99999999-2222-4333-8444-555555555555')
  t.match(await world.consumer.step(world.journal.state()), { kind: 'retry', again: 'later' })
  world.database.holder = null
  t.match(await world.consumer.step(world.journal.state()), { kind: 'foreign', detail: /99999999/ })
})

t.test('passes over a damaged stretch, and says so', async (t) => {
  const journal = new FakeJournal()
  const database = new MemoryDatabase(1)
  const store = new MemoryPersonsStore(database)
  const consumer = new Consumer(store, journal, {
    quarantineDir: t.testdir(),
    spikeEventsPerSecond: 100,
    clock: systemClock,
  })
  journal.append({ rows: [{ distinctId: 'a' }] })
  const gap = journal.damage(64)
  journal.append({ rows: [{ distinctId: 'b' }] })
  await consumer.step(journal.state())
  const outcome = await consumer.step(journal.state())
  t.match(outcome, { kind: 'applied', events: 2, remarks: [/realtime lane is damaged/] })
  t.same(database.gaps, [{ lane: 'realtime', ...gap }])
  t.equal(database.tables.personCount(), 2)
})
