import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { type EventFilter, type EventPage, listEvents } from '../../src/events/list.ts'
import type { PropertyFilter, PropertyOperator, PropertyValue } from '../../src/events/property-filter.ts'
import { openStore } from '../../src/events/store.ts'
import { type Micros, systemClock } from '../../src/lib/clock.ts'
import { uuidOf } from './make-batch.ts'
import { FakeJournal, openWorld, type World } from './world.ts'

const micros = (value: number) => value as Micros // made up for these tests

const all: EventFilter = {
  projectId: 1,
  event: null,
  distinctId: null,
  personId: null,
  afterMicros: null,
  beforeMicros: null,
  properties: [],
  limit: 100,
  cursor: null,
}

let world: World
const list = (filter: Partial<EventFilter>): Promise<EventPage> =>
  listEvents(world.store.writer, { ...all, ...filter })
/** The last digits of the listed events' uuids. */
const names = (page: EventPage) => page.events.map((event) => event.uuid.slice(-2)).join(' ')

t.before(async () => {
  const journal = new FakeJournal()
  const plain =
    '{"$browser":"Chrome","n":5,"path/x~y":"odd","quote\\"d":"q","":"empty key","flag":true,"none":null}'
  journal.append({
    rows: [
      {
        uuid: uuidOf(1),
        timestampMicros: 1000,
        event: 'a',
        distinctId: 'x',
        bornId: uuidOf(0xa1),
        properties: plain,
      },
      {
        uuid: uuidOf(2),
        timestampMicros: 3000,
        event: 'b',
        distinctId: 'x',
        bornId: uuidOf(0xa1),
        properties: '{"$browser":"firefox","n":50.0}',
      },
      {
        uuid: uuidOf(3),
        timestampMicros: 2000,
        event: 'a',
        distinctId: 'y',
        bornId: uuidOf(0xa2),
        properties: '{"n":"abc","list":[1,2]}',
        elementsChain: 'a',
      },
      {
        uuid: uuidOf(4),
        timestampMicros: 2000,
        event: 'c',
        distinctId: "o'; drop table event",
        properties: '{"$browser":"100%_sure"}',
      },
    ],
  })
  journal.append({ projectId: 2, rows: [{ uuid: uuidOf(9), timestampMicros: 9000 }] })
  const years = [-62_167_219_200_000_000, -62_135_596_800_000_000, 253_402_300_799_999_000]
  journal.append({
    projectId: 4,
    rows: years.map((timestampMicros, n) => ({ uuid: uuidOf(0x20 + n), timestampMicros })),
  })
  journal.append(
    { historical: true, rows: [{ uuid: uuidOf(5), timestampMicros: 2000, event: 'a', anonymous: true }] },
    'historical',
  )
  world = await openWorld(t.testdir(), journal)
  await world.applyAll()
})
t.teardown(() => world.close())

t.test('lists one project, newest first, with every field', async (t) => {
  const page = await list({})
  t.equal(names(page), '02 05 04 03 01')
  t.equal(page.next, null)
  t.strictSame(page.events[4], {
    uuid: uuidOf(1),
    event: 'a',
    distinctId: 'x',
    personId: uuidOf(0xa1),
    timestampMicros: 1000,
    receivedAtMicros: 1_700_000_000_500_000,
    propertiesText:
      '{"$browser":"Chrome","n":5,"path/x~y":"odd","quote\\"d":"q","":"empty key","flag":true,"none":null}',
    elementsChain: '',
    historical: false,
    anonymous: false,
    lane: 0,
    position: 0,
    index: 0,
  })
  t.match(page.events[1], { historical: true, anonymous: true, lane: 1 })
  t.strictSame(await list({ projectId: 3 }), { events: [], next: null })
})

t.test('filters by event, distinct_id, person and time', async (t) => {
  t.equal(names(await list({ event: 'a' })), '05 03 01')
  t.equal(names(await list({ distinctId: 'x' })), '02 01')
  t.equal(names(await list({ distinctId: "o'; drop table event" })), '04')
  t.equal(names(await list({ personId: uuidOf(0xa2) })), '03')
  t.equal(names(await list({ afterMicros: micros(1000) })), '02 05 04 03')
  t.equal(names(await list({ beforeMicros: micros(2000) })), '01')
  t.equal(names(await list({ afterMicros: micros(1999), beforeMicros: micros(2001), event: 'a' })), '05 03')
})

t.test('pages through events of the same time without repeating or skipping one', async (t) => {
  const seen: string[] = []
  let cursor = null
  for (let page = await list({ limit: 1 }); ; page = await list({ limit: 1, cursor })) {
    t.equal(page.events.length, 1)
    seen.push(names(page))
    cursor = page.next
    if (cursor === null) break
  }
  t.strictSame(seen, ['02', '05', '04', '03', '01'])
  const two = await list({ limit: 2 })
  t.strictSame(two.next, { timestampMicros: 2000, lane: 1, position: 0, index: 0 })
  t.equal(names(await list({ limit: 3, cursor: two.next })), '04 03 01')
})

t.test('pages from the year 9999 to the year 0', async (t) => {
  const seen: string[] = []
  let cursor = null
  do {
    const page: EventPage = await list({ projectId: 4, limit: 1, cursor })
    seen.push(names(page))
    cursor = page.next
  } while (cursor !== null && seen.length < 9)
  t.strictSame(seen, ['22', '21', '20'])
})

t.test('filters by properties', async (t) => {
  const matching = async (key: string, operator: PropertyOperator, value: PropertyFilter['value'] = null) =>
    names(await list({ properties: [{ key, operator, value }] }))
  t.equal(await matching('$browser', 'exact', 'Chrome'), '01')
  t.equal(await matching('$browser', 'exact', ['Chrome', 'firefox']), '02 01')
  t.equal(await matching('$browser', 'exact', []), '')
  t.equal(await matching('$browser', 'is_not', 'Chrome'), '02 05 04 03')
  t.equal(await matching('$browser', 'icontains', 'CHR'), '01')
  t.equal(await matching('$browser', 'icontains', '%_'), '04')
  t.equal(await matching('$browser', 'not_icontains', 'fire'), '05 04 03 01')
  t.equal(await matching('$browser', 'is_set'), '02 04 01')
  t.equal(await matching('none', 'is_set'), '')
  t.equal(await matching('$browser', 'is_not_set'), '05 03')
  t.equal(await matching('n', 'gt', 5), '02')
  t.equal(await matching('n', 'lt', '50'), '01')
  t.equal(await matching('n', 'exact', 50), '02')
  // Whole, and beyond 64 bits.
  t.equal(await matching('n', 'exact', 1e300), '')
  t.equal(await matching('n', 'lt', 1e300), '02 01')
  t.equal(await matching('n', 'exact', '5'), '01')
  t.equal(await matching('flag', 'exact', true), '01')
  t.equal(await matching('list', 'exact', '[1,2]'), '03')
  t.equal(await matching('$browser', 'regex', '^[Cf]'), '02 01')
  t.equal(await matching('path/x~y', 'exact', 'odd'), '01')
  t.equal(await matching('quote"d', 'exact', 'q'), '01')
  t.equal(await matching('', 'exact', 'empty key'), '01')
  t.equal(await matching("'); drop table event; --", 'is_set'), '')
  t.equal(await matching('$.n', 'is_set'), '')
})

t.test('combines property filters with all others', async (t) => {
  const properties: PropertyFilter[] = [
    { key: '$browser', operator: 'is_set', value: null },
    { key: 'n', operator: 'gt', value: 1 },
  ]
  t.equal(names(await list({ properties })), '02 01')
  t.equal(names(await list({ properties, event: 'a' })), '01')
})

t.test('refuses values that an operator cannot take', async (t) => {
  const refused: [PropertyOperator, PropertyValue][] = [
    ['gt', 'abc'],
    ['lt', null],
    ['icontains', null],
    ['regex', '('],
  ]
  for (const [operator, value] of refused) {
    const error = await list({ properties: [{ key: 'n', operator, value }] }).catch((error: unknown) => error)
    t.ok(isServiceError(error, 'invalid_input'), operator)
  }
  const notAnId = await list({ personId: 'anna' }).catch((error: unknown) => error)
  t.ok(isServiceError(notAnId, 'invalid_input'))
})

t.test('ends a page early when its properties are large', async (t) => {
  const journal = new FakeJournal()
  const properties = `{"big":"${'x'.repeat(20 * 1024 * 1024)}"}`
  for (let i = 0; i < 4; i++) journal.append({ rows: [{ uuid: uuidOf(i), properties, timestampMicros: i }] })
  const large = await openWorld(t.testdir(), journal)
  t.teardown(large.close)
  await large.applyAll()

  const first = await listEvents(large.store.writer, all)
  t.equal(names(first), '03 02')
  const second = await listEvents(large.store.writer, { ...all, cursor: first.next })
  t.equal(names(second), '01 00')
  t.equal(second.next, null)
})

t.test('lists events that are larger together than the memory there is', async (t) => {
  const large = await openStore({
    dataDir: t.testdir(),
    memoryLimitBytes: 192 * 1024 * 1024,
    threads: 2,
    isJournalComplete: true,
    clock: systemClock,
  })
  t.teardown(() => large.close())
  for (let n = 1; n <= 60; n++) {
    await large.writer.run(
      `insert into event select 1, $1::uuid, 'a', 'x', $1::uuid, now(), now(),
         '{"a":"' || repeat(md5(random()::varchar), 32_700) || '"}', '', false, false, 0, $2::integer, 0`,
      [uuidOf(n), n],
    )
    if (n % 10 === 0) await large.writer.run('checkpoint')
  }
  const page = await listEvents(large.writer, all)
  t.equal(page.events.length, 33, '32 MiB of text, and what came over it')
  t.equal(page.events[0]?.propertiesText.length, 1_046_408)
  t.match(page.next, { position: page.events[32]?.position })
})
