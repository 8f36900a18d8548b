import fc from 'fast-check'
import t from 'tap'
import { bornIdOf } from '../../src/identity/born-id.ts'
import { placeOf } from '../../src/identity/ids-to-load.ts'
import { type EventsInput, readInput, type UnreadInput } from '../../src/identity/operations.ts'
import { nothingSeen } from '../../src/identity/seen.ts'
import { PersonCache } from '../../src/persons/person-cache.ts'
import { PostgresStore } from '../../src/persons/postgres-store.ts'
import { Repeats } from '../../src/persons/repeats.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { uuidOf } from '../events/make-batch.ts'
import type { SentEvent } from '../identity/captured.ts'
import { asWrittenBefore } from '../identity/check-history.ts'
import type { Happening } from '../identity/histories.ts'
import { silentLog } from '../support/postgres.ts'
import { compareRows, stepsOf } from './compare-rows.ts'
import { eventsOf } from './store-contract.ts'
import { personsDatabase } from './world.ts'

const page = (distinct_id: string, plan: string): SentEvent => ({
  event: '$pageview',
  distinct_id,
  properties: { $browser: 'Chrome', $set: { plan } },
})

const identify = (distinct_id: string, plan: string, $anon_distinct_id: string | null): SentEvent => ({
  event: '$identify',
  distinct_id,
  properties: { $set: { plan }, ...($anon_distinct_id === null ? {} : { $anon_distinct_id }) },
})

/** A cache that knows ids a and b of one person, who has seen both of these, and c of another. */
function cacheOf(): PersonCache {
  const cache = new PersonCache(100_000)
  const [seen] = eventsOf([page('a', 'free'), identify('a', 'free', null)]).map(
    (input) => readInput(input) as EventsInput, // it is of events
  )
  const [last, before] = seen!.operations.map(({ digest }) => digest)
  const [ab, c] = [uuidOf(1), uuidOf(2)]
  for (const [id, uuid] of [
    ['a', ab],
    ['b', ab],
    ['c', c],
  ] as const)
    cache.addOwner(bornIdOf(1, id), uuid)
  cache.noteSeen({ uuid: ab, seen: { ...nothingSeen, last: last!, before: before! } })
  return cache
}

function idsLeft(repeats: Repeats): string[] {
  return repeats
    .inputs()
    .flatMap((input) => (input.kind === 'events' ? input.operations.map(({ distinctId }) => distinctId) : []))
}

t.test('passes over what persons have seen, and counts it', async (t) => {
  const events = [
    page('a', 'free'),
    page('b', 'free'),
    page('a', 'paid'),
    page('c', 'free'),
    { event: 'e', distinct_id: 'c' },
    { event: '$exception', distinct_id: 'c', properties: { $set: { x: 1 } } },
    { event: 'e', distinct_id: 'new' },
    { event: '$identify', distinct_id: 'c' },
    { event: 'e', distinct_id: 'c', properties: { $groups: { company: 'x' } } },
    { event: 'e', distinct_id: 'hidden', properties: { $process_person_profile: false } },
  ]
  const repeats = new Repeats(cacheOf(), eventsOf(events))
  t.same(idsLeft(repeats), ['a', 'c', 'new', 'c', 'c'])
  t.match(repeats.inputs(), [{ kind: 'events', eventCount: events.length }])
})

t.test('passes over who identifies again as the same, not over who brings another id', (t) => {
  const events = [
    identify('a', 'free', null),
    identify('a', 'paid', null),
    identify('a', 'free', 'anon'),
    { ...identify('a', 'free', 'anon'), event: '$set' },
    { ...identify('a', 'free', null), event: '$set' },
    { ...identify('a', 'free', null), event: '$create_alias' },
    { event: '$create_alias', distinct_id: 'a', properties: { $set: { plan: 'free' }, alias: 'c' } },
  ]
  const inputs = eventsOf(events)
  const repeats = new Repeats(cacheOf(), inputs)
  const [left] = repeats.inputs()
  t.match(left, { operations: [{ index: 1 }, { index: 2, otherId: 'anon' }, { index: 6, otherId: 'c' }] })
  t.equal(left?.kind === 'events' && left.operations.length, 3)
  t.equal(repeats.takeBack([[uuidOf(1), 0]]), true)
  t.same(repeats.inputs(), inputs.map(readInput), 'all taken back, it is what nobody has looked at')
  t.end()
})

t.test('never takes a duplicate back', (t) => {
  const [range] = eventsOf([page('a', 'free'), page('b', 'free'), page('a', 'paid')])
  const inputs = [{ ...range, duplicates: new Uint8Array([0b010]) } as UnreadInput] // of events
  const repeats = new Repeats(cacheOf(), inputs)
  t.same(idsLeft(repeats), ['a'])
  t.equal(repeats.takeBack([[uuidOf(1), 0]]), true)
  t.same(idsLeft(repeats), ['a', 'a'])
  t.match(repeats.inputs(), [{ eventCount: 2 }])
  t.end()
})

t.test('passes over nothing that says something in records of the version before', async (t) => {
  const events = eventsOf([
    page('a', 'free'),
    { event: '$set', distinct_id: 'b', properties: { $set: { plan: 'free' } } },
    { event: 'e', distinct_id: 'c' },
    { event: '$exception', distinct_id: 'c', properties: { $set: { x: 1 } } },
    { event: '$identify', distinct_id: 'c' },
  ])
  t.same(idsLeft(new Repeats(cacheOf(), events.map(asWrittenBefore))), ['a', 'b', 'c'])
})

t.test('takes back what it passed over of persons that the step touches, in its place', async (t) => {
  const repeats = new Repeats(cacheOf(), [
    ...eventsOf([page('a', 'free'), { event: 'e', distinct_id: 'c' }, page('a', 'paid'), page('b', 'free')]),
    { kind: 'delete_person', projectId: 1, personUuid: uuidOf(9), deletesEvents: false, deletedAtMs: 0 },
    ...eventsOf([page('b', 'free')]),
  ])
  t.same(idsLeft(repeats), ['a'])
  t.equal(repeats.takeBack([[uuidOf(9), 0]]), false)
  t.equal(repeats.takeBack([uuidOf(9), uuidOf(1)].map((uuid) => [uuid, 0] as const)), true)
  t.same(idsLeft(repeats), ['a', 'a', 'b', 'b'])
  t.equal(repeats.takeBack([[uuidOf(1), 0]]), false)
  t.equal(repeats.inputs()[1]?.kind, 'delete_person')
})

t.test('takes nothing back from before the first event that may change the person', async (t) => {
  const events = [page('a', 'free'), page('b', 'free'), page('a', 'free'), page('a', 'paid')]
  const inputs = [...eventsOf(events), ...eventsOf(events)]
  const repeats = new Repeats(cacheOf(), inputs)
  t.same(idsLeft(repeats), ['a', 'a'])
  t.equal(repeats.takeBack([[uuidOf(1), Number.POSITIVE_INFINITY]]), false)
  t.equal(repeats.takeBack([[uuidOf(1), placeOf(1, 1)]]), true)
  t.same(idsLeft(repeats), ['a', 'b', 'a', 'a'])
  t.equal(
    repeats.takeBack([
      [uuidOf(1), placeOf(1, 3)],
      [uuidOf(1), placeOf(0, 2)],
    ]),
    true,
  )
  t.same(idsLeft(repeats), ['a', 'a', 'a', 'b', 'a', 'a'])
})

t.test('histories full of repeats leave the same rows as in memory', async (t) => {
  const database = await personsDatabase(t)
  const postgres = openPostgres({ connectionString: database.connectionString, log: silentLog })
  const limits = { cacheBytesMax: 1_000_000, loadedBytesMax: 1_000_000 }
  const store = new PostgresStore({ postgres, killAt: null, ...limits })
  const step = fc.array(happening, { minLength: 1, maxLength: 5 })
  const samples = fc.array(step, { minLength: 6, maxLength: 12 })
  const histories = fc.sample(samples, { numRuns: 14, seed: 11 })
  await compareRows(t, database, store, histories.map(stepsFrom))
})

const id = fc.constantFrom('a', 'b', 'c', 'd')
const repeated = fc.record({ id, plan: fc.constantFrom('free', 'free', 'free', 'paid') })
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 12, arbitrary: repeated.map(({ id, plan }) => eventOf(page(id, plan))) },
  { weight: 2, arbitrary: id.map((distinct_id) => eventOf({ event: 'e', distinct_id })) },
  {
    weight: 2,
    arbitrary: fc
      .record({ id, alias: id })
      .map(({ id, alias }) =>
        eventOf({ event: '$merge_dangerously', distinct_id: id, properties: { alias } }),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ id, other: fc.option(id), event: fc.constantFrom('$identify', '$identify', '$set') })
      .map(({ id, other, event }) => eventOf({ ...identify(id, 'free', other), event })),
  },
  {
    weight: 1,
    arbitrary: id.map((distinctId) => ({ kind: 'delete_person' as const, distinctId, hidesEvents: false })),
  },
)

function eventOf(event: SentEvent): Happening {
  return { kind: 'event', event }
}

function stepsFrom(parts: readonly (readonly Happening[])[]): UnreadInput[][] {
  let end = 0
  return stepsOf({ happenings: parts.flat(), cuts: parts.map((part) => (end += part.length)) })
}
