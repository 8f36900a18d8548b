import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import t from 'tap'
import type { Store } from '../../src/events/store.ts'
import { type RowInput, uuidOf } from './make-batch.ts'
import { FakeJournal, openWorld } from './world.ts'

const columns = `project_id, uuid::varchar, event, distinct_id, born_id::varchar, epoch_us(timestamp)::varchar,
  epoch_us(received_at)::varchar, properties::varchar, elements_chain, historical, anonymous, lane,
  position::varchar, index`

t.test('stores every column of every event as it was captured', async (t) => {
  const journal = new FakeJournal()
  const first = journal.append({
    projectId: 7,
    receivedAtMs: 1_700_000_000_123,
    rows: [
      {
        uuid: 'ffeeddcc-bbaa-7988-8776-655443322110',
        bornId: '01234567-89ab-5cde-8f01-23456789abcd',
        event: '$pageview',
        distinctId: 'anna',
        properties: '{"$browser":"Firefox","n":12345678901234567890,"spaced" : [1, 2],"e":"","d":1.50}',
        elementsChain: 'a.button:text="buy;now"nth-child="1"',
        timestampMicros: 1_699_999_999_999_999,
        anonymous: true,
      },
      {
        uuid: uuidOf(2),
        event: 'with\x1eseparator',
        distinctId: '\x1e\x1e',
        elementsChain: '\x1e',
        properties: '{"a":1}',
      },
      {
        uuid: uuidOf(3),
        event: 'größe 👩‍👩‍👧 \u{10ffff}',
        distinctId: 'ひと',
        properties: '{"emoji":"👍🏽","esc":"\\u0041"}',
      },
      {
        uuid: uuidOf(4),
        event: 'ends with newline\n',
        distinctId: ' ',
        properties: '{}',
        timestampMicros: -1,
      },
    ],
  })
  const second = journal.append(
    { projectId: 8, historical: true, rows: [{ uuid: uuidOf(5), timestampMicros: 253_402_300_799_000_000 }] },
    'historical',
  )
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  const born = uuidOf(0xb0)
  const [p1, p2] = [String(first.position), String(second.position)]
  const received = '1700000000123000'
  t.strictSame(await world.select(`select ${columns} from event order by lane, position, index`), [
    [
      7,
      'ffeeddcc-bbaa-7988-8776-655443322110',
      '$pageview',
      'anna',
      '01234567-89ab-5cde-8f01-23456789abcd',
      '1699999999999999',
      received,
      '{"$browser":"Firefox","n":12345678901234567890,"spaced" : [1, 2],"e":"","d":1.50}',
      'a.button:text="buy;now"nth-child="1"',
      false,
      true,
      0,
      p1,
      0,
    ],
    [
      7,
      uuidOf(2),
      'with\x1eseparator',
      '\x1e\x1e',
      born,
      '1700000000000000',
      received,
      '{"a":1}',
      '\x1e',
      false,
      false,
      0,
      p1,
      1,
    ],
    [
      7,
      uuidOf(3),
      'größe 👩‍👩‍👧 \u{10ffff}',
      'ひと',
      born,
      '1700000000000000',
      received,
      '{"emoji":"👍🏽","esc":"\\u0041"}',
      '',
      false,
      false,
      0,
      p1,
      2,
    ],
    [7, uuidOf(4), 'ends with newline\n', ' ', born, '-1', received, '{}', '', false, false, 0, p1, 3],
    [
      8,
      uuidOf(5),
      'viewed',
      'anna',
      born,
      '253402300799000000',
      '1700000000500000',
      '{}',
      '',
      true,
      false,
      1,
      p2,
      0,
    ],
  ])
})

/** `count` plain rows whose uuids end in `first`, `first` + 1, … */
function rows(count: number, first = 0): RowInput[] {
  return Array.from({ length: count }, (_, i) => ({
    uuid: uuidOf(first + i),
    properties: `{"n":${first + i}}`,
  }))
}

const invalidUtf8 = Buffer.from([0x7b, 0xff, 0x7d])

t.test('loads nothing twice, however often it is opened again', async (t) => {
  const journal = new FakeJournal()
  const dir = t.testdir()
  let events = 0
  for (let round = 0; round < 3; round++) {
    journal.append({ rows: rows(10, round * 100) })
    journal.append({ rows: rows(10, round * 100 + 10) }, 'historical')
    events += 20
    const world = await openWorld(dir, journal)
    await world.applyAll()
    t.strictSame(await world.select('select count(*), count(distinct uuid) from events'), [
      [String(events), String(events)],
    ])
    t.equal(world.consumer.counts.events, events)
    world.close()
  }
})

t.test('passes over duplicates and counts them', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: rows(10) }, 'realtime', [0, 3, 4, 9])
  journal.append({ rows: rows(2, 50) }, 'realtime', [0, 1])
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  t.strictSame(await world.select('select list(index order by position, index) from events'), [
    [[1, 2, 5, 6, 7, 8]],
  ])
  t.strictSame(world.consumer.counts, { events: 6, duplicates: 6, quarantined: 0 })
  t.strictSame(await world.select('select sum(event_count), sum(duplicate_count) from progress'), [
    ['6', '6'],
  ])
})

t.test('keeps the order of the journal across bulk rows and rows that go alone', async (t) => {
  const journal = new FakeJournal()
  const mixed = rows(9).map((row, i) => (i % 4 === 1 ? { ...row, event: `a\x1e${i}` } : row))
  journal.append({ rows: mixed })
  journal.append({
    rows: [{ uuid: uuidOf(77), properties: `{"big":"${'x'.repeat(5 * 1024 * 1024)}"}` }, ...rows(1, 78)],
  })
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  const stored = await world.select('select right(uuid::varchar, 2) from event order by rowid')
  t.strictSame(stored.flat(), ['00', '01', '02', '03', '04', '05', '06', '07', '08', '4d', '4e'])
  t.strictSame(await world.select('select max(strlen(properties)) from event'), [
    [String(5 * 1024 * 1024 + 10)],
  ])
})

t.test('takes realtime first and leaves a quarter of the rows to waiting history', async (t) => {
  const journal = new FakeJournal()
  for (let i = 0; i < 10; i++) {
    journal.append({ rows: rows(2000, i * 2000) })
    journal.append({ rows: rows(2000, 100_000 + i * 2000) }, 'historical')
  }
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  const outcome = await world.step()

  // A first transaction takes 15,000 rows: 300 ms of what a row is guessed to cost.
  t.match(outcome, { kind: 'applied', rows: 15_000 })
  t.strictSame(await world.select('select lane, count(*) from event group by lane order by lane'), [
    [0, '11250'],
    [1, '3750'],
  ])
  await world.applyAll()
  t.strictSame(await world.select('select count(*), count(distinct uuid) from events'), [['40000', '40000']])
})

/** A store whose writing connection answers some statements with an error, before or after doing them. */
function failing(store: Store, fails: (sql: string) => Error | null, when: 'before' | 'after'): Store {
  const writer = new Proxy(store.writer, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'run') return value.bind(target)
      return async (sql: string, ...rest: unknown[]) => {
        const error = fails(sql)
        if (error !== null && when === 'before') throw error
        const result = await value.call(target, sql, ...rest)
        if (error !== null) throw error
        return result
      }
    },
  }) as DuckDBConnection // the proxy passes everything else on
  return { ...store, writer }
}

/** Answers the first statement that starts with `start` with `message`. */
function once(start: string, message: string): (sql: string) => Error | null {
  let isDone = false
  return (sql) => {
    if (isDone || !sql.startsWith(start)) return null
    isDone = true
    return new Error(message)
  }
}

t.test('stores rows and offset together or neither', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: rows(10) })
  const reopen = (store: Store) => failing(store, once('insert into progress', 'IO Error: disk'), 'before')
  const world = await openWorld(t.testdir(), journal, { reopen })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'retry', again: 'later', detail: 'IO Error: disk' })
  t.strictSame(await world.select('select (select count(*) from event), (select count(*) from progress)'), [
    ['0', '0'],
  ])
  await world.applyAll()
  t.strictSame(await world.select('select (select count(*) from event), (select count(*) from progress)'), [
    ['10', '2'],
  ])
})

t.test('believes the stored offset when a commit that happened reports an error', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: rows(10) })
  const reopen = (store: Store) => failing(store, once('commit', 'IO Error: unknown outcome'), 'after')
  const world = await openWorld(t.testdir(), journal, { reopen })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'applied' })
  t.equal(await world.applyAll(), 0)
  t.strictSame(await world.select('select count(*) from event'), [['10']])
})

t.test('takes half as many rows after running out of memory, and never calls that poison', async (t) => {
  const journal = new FakeJournal()
  for (let i = 0; i < 4; i++) journal.append({ rows: rows(1000, i * 1000) })
  const reopen = (store: Store) => failing(store, once('commit', 'Out of Memory Error: no'), 'before')
  const world = await openWorld(t.testdir(), journal, { reopen })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'retry', again: 'later' })
  t.match(await world.step(), { kind: 'applied', rows: 2000 })
  await world.applyAll()
  t.strictSame(world.consumer.counts, { events: 4000, duplicates: 0, quarantined: 0 })
})

t.test('ends when the instance is invalidated', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: rows(1) })
  const fatal = 'FATAL Error: Failed: database has been invalidated because of a previous fatal error.'
  const world = await openWorld(t.testdir(), journal, {
    reopen: (store) => failing(store, once('commit', fatal), 'before'),
  })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'fatal', detail: fatal })
})

t.test('sets an event aside that cannot be stored, and loads all others', async (t) => {
  const journal = new FakeJournal()
  const dir = t.testdir()
  journal.append({ rows: rows(700) })
  const bad = journal.append(
    {
      projectId: 3,
      rows: [
        ...rows(150, 1000),
        { uuid: uuidOf(0xbad), event: 'bad', rawProperties: invalidUtf8 },
        ...rows(149, 2000),
      ],
    },
    'realtime',
    [0],
  )
  journal.append({
    rows: [...rows(5, 3000), { uuid: uuidOf(0xbad2), properties: '{"a":' }, ...rows(500, 4000)],
  })
  const world = await openWorld(dir, journal)
  t.teardown(world.close)

  await world.applyAll()

  t.strictSame(world.consumer.counts, { events: 1503, duplicates: 1, quarantined: 2 })
  t.strictSame(await world.select('select count(*), count(distinct uuid) from events'), [['1503', '1503']])
  t.strictSame(
    await world.select(
      'select project_id, uuid::varchar, lane, position::varchar, index, file from quarantine where project_id = 3',
    ),
    [[3, uuidOf(0xbad), 0, String(bad.position), 150, `event-realtime-${bad.position}-150`]],
  )
  const file = readFileSync(join(dir, 'quarantine', `event-realtime-${bad.position}-150`))
  const lineEnd = file.indexOf('\n')
  t.match(JSON.parse(file.subarray(0, lineEnd).toString()), {
    projectId: 3,
    uuid: uuidOf(0xbad),
    event: 'bad',
    distinctId: 'anna',
  })
  t.strictSame(file.subarray(lineEnd + 1), invalidUtf8)
  t.equal(readdirSync(join(dir, 'quarantine')).length, 2)
  // What was suspected and found innocent does not slow down what follows.
  journal.append({ rows: rows(3000, 9000) })
  t.equal(await world.applyAll(), 1)
})

t.test('does not let values slip into other rows when a text has one piece too many', async (t) => {
  const journal = new FakeJournal()
  const record = journal.append({ rows: [{ uuid: uuidOf(1), event: 'left\x1eright' }, ...rows(3, 2)] })
  // The flag that announces the separator is cleared, as a faulty build might.
  const flagged = record.payload.indexOf(16, 200)
  record.payload[flagged] = 0
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  t.strictSame(await world.select('select event, right(uuid::varchar, 1) from events order by index'), [
    ['left\x1eright', '1'],
    ['viewed', '2'],
    ['viewed', '3'],
    ['viewed', '4'],
  ])
})

t.test('goes on behind a damaged stretch of the journal and says so', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: rows(2) })
  const gap = journal.damage(4096)
  journal.append({ rows: rows(2, 10) })
  const last = journal.damage(128)
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'applied', remarks: { length: 2 } })
  t.strictSame(
    await world.select('select lane, position::varchar, end_position::varchar from gap order by position'),
    [
      [0, String(gap.position), String(gap.end)],
      [0, String(last.position), String(last.end)],
    ],
  )
  t.strictSame(await world.select('select count(*) from events'), [['4']])
  t.equal(world.consumer.offsets.realtime.position, journal.committed.realtime)
})

t.test('hides a deleted project from then on, whenever its events arrive', async (t) => {
  const journal = new FakeJournal()
  journal.append({ projectId: 1, rows: rows(3) })
  journal.append({ projectId: 2, rows: rows(3, 10) })
  journal.deleteProject(1)
  journal.append({ projectId: 1, rows: rows(3, 20) })
  journal.append({ projectId: 1, historical: true, rows: rows(3, 30) }, 'historical')
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  t.strictSame(await world.select('select project_id, count(*) from events group by all'), [[2, '3']])
})
