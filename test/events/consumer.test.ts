import t from 'tap'
import { plainRows, uuidOf } from './make-batch.ts'
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

t.test('loads nothing twice, however often it is opened again', async (t) => {
  const journal = new FakeJournal()
  const dir = t.testdir()
  let events = 0
  for (let round = 0; round < 3; round++) {
    journal.append({ rows: plainRows(round * 100, 10) })
    journal.append({ rows: plainRows(round * 100 + 10, 10) }, 'historical')
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
  journal.append({ rows: plainRows(0, 10) }, 'realtime', [0, 3, 4, 9])
  journal.append({ rows: plainRows(50, 2) }, 'realtime', [0, 1])
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
  const mixed = plainRows(0, 9).map((row, i) => (i % 4 === 1 ? { ...row, event: `a\x1e${i}` } : row))
  journal.append({ rows: mixed })
  journal.append({
    rows: [{ uuid: uuidOf(77), properties: `{"big":"${'x'.repeat(5 * 1024 * 1024)}"}` }, ...plainRows(78, 1)],
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
    journal.append({ rows: plainRows(i * 2000, 2000) })
    journal.append({ rows: plainRows(100_000 + i * 2000, 2000) }, 'historical')
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

t.test('goes on behind a damaged stretch of the journal and says so', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: plainRows(0, 2) })
  const gap = journal.damage(4096)
  journal.append({ rows: plainRows(10, 2) })
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
  journal.append({ projectId: 1, rows: plainRows(0, 3) })
  journal.append({ projectId: 2, rows: plainRows(10, 3) })
  journal.deleteProject(1)
  journal.append({ projectId: 1, rows: plainRows(20, 3) })
  journal.append({ projectId: 1, historical: true, rows: plainRows(30, 3) }, 'historical')
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  t.strictSame(await world.select('select project_id, count(*) from events group by all'), [[2, '3']])
})

t.test('passes over the deletion of a person, which comes by the outbox', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: plainRows(0, 3) })
  journal.deletePerson(1, uuidOf(0xb0))
  journal.append({ rows: plainRows(10, 3) })
  const world = await openWorld(t.testdir(), journal)
  t.teardown(world.close)

  await world.applyAll()

  t.strictSame(await world.select('select count(*) from events'), [['6']])
  t.strictSame(await world.select('select count(*) from deleted_project'), [['0']])
})
