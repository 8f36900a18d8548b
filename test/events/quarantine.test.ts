import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { watchSyncs } from '../support/synced.ts'
import { plainRows, uuidOf } from './make-batch.ts'
import { FakeJournal, openWorld } from './world.ts'

const invalidUtf8 = Buffer.from([0x7b, 0xff, 0x7d])

t.test('sets an event aside that cannot be stored, and loads all others', async (t) => {
  const journal = new FakeJournal()
  const dir = t.testdir()
  journal.append({ rows: plainRows(0, 700) })
  const bad = journal.append(
    {
      projectId: 3,
      rows: [
        ...plainRows(1000, 150),
        { uuid: uuidOf(0xbad), event: 'bad', rawProperties: invalidUtf8 },
        ...plainRows(2000, 149),
      ],
    },
    'realtime',
    [0],
  )
  journal.append({
    rows: [
      ...plainRows(3000, 5),
      { uuid: uuidOf(0xbad2), rawProperties: invalidUtf8 },
      ...plainRows(4000, 500),
    ],
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
  journal.append({ rows: plainRows(9000, 3000) })
  t.equal(await world.applyAll(), 1)
})

t.test('has the event on disk, under its name, before its row', async (t) => {
  const journal = new FakeJournal()
  const dir = t.testdir()
  journal.append({ rows: [{ uuid: uuidOf(0xbad), event: 'bad', rawProperties: invalidUtf8 }] })
  const world = await openWorld(dir, journal)
  t.teardown(world.close)
  const synced = watchSyncs(t)
  await world.applyAll()
  const folder = join(dir, 'quarantine')
  t.strictSame(synced, [join(folder, 'event-realtime-0-0'), folder])
})

t.test('does not let values slip into other rows when a text has one piece too many', async (t) => {
  const journal = new FakeJournal()
  const record = journal.append({ rows: [{ uuid: uuidOf(1), event: 'left\x1eright' }, ...plainRows(2, 3)] })
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
