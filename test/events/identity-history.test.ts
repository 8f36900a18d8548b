import t from 'tap'
import {
  firstEvents,
  idHistories,
  inOrderOfArrival,
  joiningEvents,
  outermostEvents,
  propertyChanges,
  type RunQuery,
} from '../../src/events/identity-history.ts'
import { runQuery } from '../../src/events/readers.ts'
import { uuidOf } from './make-batch.ts'
import { FakeJournal, openWorld, type World } from './world.ts'

let world: World
const run: RunQuery = (sql, values) => runQuery(world.store.writer, sql, values)
const lastDigits = (events: readonly { uuid: string }[]) => events.map(({ uuid }) => uuid.slice(-2)).join(' ')

t.before(async () => {
  const journal = new FakeJournal()
  journal.append({
    receivedAtMs: 1000,
    rows: [
      {
        uuid: uuidOf(1),
        distinctId: 'a',
        anonymous: true,
        timestampMicros: 500,
        properties: '{"$set":{"z":1}}',
      },
      { uuid: uuidOf(2), distinctId: 'a', timestampMicros: 900, properties: '{"$set":{"k":1,"m":2}}' },
      {
        uuid: uuidOf(3),
        distinctId: 'a',
        timestampMicros: 100,
        properties: '{"$set":{"k":3},"$unset":["m",7]}',
      },
      { uuid: uuidOf(4), event: '$identify', distinctId: 'b', properties: '{"$anon_distinct_id":"a"}' },
      { uuid: uuidOf(5), event: '$identify', distinctId: 'b', properties: '{"alias":"a"}' },
      { uuid: uuidOf(6), event: '$create_alias', distinctId: 'a', properties: '{"alias":12}' },
    ],
  })
  journal.append(
    {
      receivedAtMs: 900,
      historical: true,
      rows: [
        { uuid: uuidOf(7), event: '$merge_dangerously', distinctId: 'c', properties: '{"alias":"12"}' },
        {
          uuid: uuidOf(8),
          distinctId: 'c',
          properties: '{"$set_once":{"k":1},"$set":"no object","$unset":{"q":0}}',
        },
      ],
    },
    'historical',
  )
  journal.append({
    projectId: 2,
    rows: [{ uuid: uuidOf(9), event: '$identify', distinctId: 'a', properties: '{"$anon_distinct_id":"b"}' }],
  })
  world = await openWorld(t.testdir(), journal)
  await world.applyAll()
})

t.teardown(() => world.close())

t.test('finds the events that join an id, from either side, in the order of arrival', async (t) => {
  t.equal(lastDigits(await joiningEvents(run, 1, ['a'], 10)), '04 06')
  const [first] = await joiningEvents(run, 1, ['a'], 1)
  t.match(first, {
    event: '$identify',
    distinctId: 'b',
    otherIdText: '"a"',
    receivedAtMicros: 1_000_000,
    historical: false,
  })
  const twelve = await joiningEvents(run, 1, ['12'], 10)
  t.equal(lastDigits(twelve), '07 06')
  t.match(twelve, [{ otherIdText: '"12"', historical: true }, { otherIdText: '12' }])
  t.ok(inOrderOfArrival(twelve[0]!, twelve[1]!) < 0)
  t.equal(inOrderOfArrival(twelve[0]!, twelve[0]!), 0)
  t.equal(lastDigits(await joiningEvents(run, 2, ['b'], 10)), '09')
  t.same(await joiningEvents(run, 1, ['"\\x', "'"], 10), [])
})

t.test('finds the first event of each id that was not anonymous', async (t) => {
  const found = await firstEvents(run, 1, ['a', 'b', 'c', 'nobody'])
  t.equal(lastDigits(found.sort(inOrderOfArrival)), '07 02 04')
})

t.test('counts the events of ids, and finds the outermost by their own time', async (t) => {
  const histories = await idHistories(run, 1, ['a', 'nobody'])
  t.same([...histories.keys()], ['a'])
  t.same(histories.get('a'), {
    eventCount: 4,
    anonymousCount: 1,
    firstMicros: 100,
    lastMicros: 1_700_000_000_000_000,
  })
  const { first, last } = (await outermostEvents(run, 1, ['a', 'b'])) ?? {}
  t.same([first?.uuid.slice(-2), last?.uuid.slice(-2)], ['03', '06'])
  t.equal(await outermostEvents(run, 1, ['nobody']), null)
})

t.test('counts what events set and unset, anonymous ones left out', async (t) => {
  const changes = await propertyChanges(run, 1, ['a', 'c'], 10)
  t.same(
    changes.map(({ operation, key, eventCount, lastMicros }) => [operation, key, eventCount, lastMicros]),
    [
      ['$set_once', 'k', 1, 1_700_000_000_000_000],
      ['$unset', 'q', 1, 1_700_000_000_000_000],
      ['$set', 'k', 2, 900],
      ['$set', 'm', 1, 900],
      ['$unset', '7', 1, 100],
      ['$unset', 'm', 1, 100],
    ],
  )
  t.equal((await propertyChanges(run, 1, ['a', 'c'], 2)).length, 2)
})
