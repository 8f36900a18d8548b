import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { openStore } from '../../src/events/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { watchSyncs } from '../support/synced.ts'
import { plainRows } from './make-batch.ts'
import { FakeJournal, openWorld } from './world.ts'

/**
 * Makes a folder that looks like one after a crash: 200 events are in the file, 300 more only in the write-ahead log.
 */
async function crashed(dir: string): Promise<{ dir: string; journal: FakeJournal }> {
  const journal = new FakeJournal()
  const live = join(dir, 'live')
  journal.append({ rows: plainRows(0, 200) })
  const world = await openWorld(live, journal)
  await world.applyAll()
  await world.store.writer.run('checkpoint')
  for (let i = 0; i < 3; i++) {
    journal.append({ rows: plainRows(200 + i * 100, 100) })
    await world.applyAll()
  }
  const copy = join(dir, 'crashed')
  cpSync(live, copy, { recursive: true })
  world.close()
  return { dir: copy, journal }
}

const damages: Record<string, (wal: string) => void> = {
  'nothing at all': () => {},
  'a cut of 1 byte': (wal) => truncateSync(wal, readFileSync(wal).length - 1),
  'a cut of 1000 bytes': (wal) => truncateSync(wal, readFileSync(wal).length - 1000),
  'a cut to nothing': (wal) => truncateSync(wal, 0),
  'a removed log': (wal) => rmSync(wal),
  'a zeroed tail': (wal) => appendFileSync(wal, Buffer.alloc(4096)),
  'garbage at the end': (wal) => appendFileSync(wal, Buffer.alloc(500, 'garbage')),
  'garbage instead': (wal) => writeFileSync(wal, Buffer.alloc(5000, 'garbage')),
}
for (const part of [0.001, 0.25, 0.5, 0.75, 0.99]) {
  damages[`a bit flipped at ${part * 100} %`] = (wal) => {
    const bytes = readFileSync(wal)
    bytes[Math.floor(bytes.length * part)]! ^= 1
    writeFileSync(wal, bytes)
  }
}

t.test('loses and doubles nothing when the write-ahead log is damaged by', async (t) => {
  const { dir, journal } = await crashed(t.testdir())
  for (const [name, damage] of Object.entries(damages)) {
    t.test(name, async (t) => {
      const folder = t.testdir()
      copyFileSync(join(dir, 'events.duckdb'), join(folder, 'events.duckdb'))
      copyFileSync(join(dir, 'events.duckdb.wal'), join(folder, 'events.duckdb.wal'))
      damage(join(folder, 'events.duckdb.wal'))

      const world = await openWorld(folder, journal)
      await world.applyAll()

      const counts = "select count(*), count(distinct uuid), sum((properties->>'$.n')::int) from events"
      t.strictSame(await world.select(counts), [['500', '500', '124750']])
      world.close()
      const again = await openWorld(folder, journal)
      t.equal(await again.applyAll(), 0)
      t.strictSame(await again.select(counts), [['500', '500', '124750']])
      again.close()
    })
  }
})

t.test('moves a write-ahead log that does not replay to the quarantine folder and says so', async (t) => {
  const { dir, journal } = await crashed(t.testdir())
  appendFileSync(join(dir, 'events.duckdb.wal'), Buffer.alloc(4096))

  const world = await openWorld(dir, journal)
  t.teardown(world.close)

  t.equal(world.store.remedies.length, 1)
  t.match(world.store.remedies[0], /the write-ahead log did not replay and was moved to .*quarantine/)
  t.match(readdirSync(join(dir, 'quarantine')), [/^events\.duckdb\.wal\.\d+$/])
  // The offset is that of the checkpoint.
  t.equal(world.consumer.offsets.realtime.position, journal.records.realtime[0]?.end)
})

t.test('makes the names last of the store itself and of what is moved away', async (t) => {
  const { dir, journal } = await crashed(t.testdir())
  appendFileSync(join(dir, 'events.duckdb.wal'), Buffer.alloc(4096))
  const synced = watchSyncs(t)
  const world = await openWorld(dir, journal)
  world.close()
  t.strictSame(synced, [join(dir, 'quarantine'), dir, dir])
})

t.test('builds an unreadable file again when the journal reaches back to the beginning', async (t) => {
  const { dir, journal } = await crashed(t.testdir())
  writeFileSync(join(dir, 'events.duckdb'), Buffer.alloc(20_000, 'no database'))

  const world = await openWorld(dir, journal)
  t.teardown(world.close)
  await world.applyAll()

  t.match(world.store.remedies, [/the events store was unreadable, was moved to .* and is built again/])
  t.strictSame(await world.select('select count(*), count(distinct uuid) from events'), [['500', '500']])
  t.match(readdirSync(join(dir, 'quarantine')).sort(), [
    /^events\.duckdb\.\d+$/,
    /^events\.duckdb\.wal\.\d+$/,
  ])
})

t.test('refuses to start with an unreadable file when the journal does not reach back', async (t) => {
  const { dir, journal } = await crashed(t.testdir())
  writeFileSync(join(dir, 'events.duckdb'), Buffer.alloc(20_000, 'no database'))

  const error = await openWorld(dir, journal, { isJournalComplete: false }).catch((error: unknown) => error)

  t.ok(isServiceError(error, 'storage_failed'))
  t.match(error, { detail: /Remedy: restore it from a backup/ })
  t.ok(existsSync(join(dir, 'events.duckdb')), 'the file stays where it is')
})

t.test('refuses a second open in the same process', async (t) => {
  const dir = t.testdir()
  const world = await openWorld(dir, new FakeJournal())
  await t.rejects(openWorld(dir, new FakeJournal()), /is opened once in the life of the process/)
  world.close()
  const again = await openWorld(dir, new FakeJournal())
  again.close()
})

t.test('refuses a store that another process holds, and leaves it alone', async (t) => {
  const dir = t.testdir()
  const holder = spawn(process.execPath, [fileURLToPath(new URL('lock-child.js', import.meta.url)), dir])
  await once(holder.stdout, 'data')

  const error = await openWorld(dir, new FakeJournal()).catch((error: unknown) => error)
  t.ok(isServiceError(error, 'data_dir_unusable'))
  t.match(error, { detail: /Could not set lock/ })
  t.strictSame(readdirSync(join(dir, 'quarantine')), [])

  holder.stdin.end()
  await once(holder, 'exit')
  const world = await openWorld(dir, new FakeJournal())
  world.close()
})

t.test('refuses a store that a newer version has written', async (t) => {
  const dir = t.testdir()
  const world = await openWorld(dir, new FakeJournal())
  await world.store.writer.run("insert into schema_file values (99, '0099_future.sql', now())")
  world.close()
  const error = await openWorld(dir, new FakeJournal()).catch((error: unknown) => error)
  t.ok(isServiceError(error, 'data_dir_unusable'))
})

t.test('lets SQL reach nothing but the database', async (t) => {
  const dir = t.testdir()
  const world = await openWorld(dir, new FakeJournal())
  t.teardown(world.close)
  const outside = join(dir, 'outside.csv')
  for (const sql of [
    `copy (select 1) to '${outside}'`,
    "select * from read_csv('/etc/passwd')",
    `attach '${join(dir, 'other.duckdb')}' as other`,
    'set enable_external_access = true',
    "set memory_limit = '100GB'",
    'install httpfs',
  ]) {
    await t.rejects(
      world.store.writer.run(sql),
      /(Permission|Invalid Input|IO|HTTP|Catalog) Error|disabled/,
      sql,
    )
  }
  t.notOk(existsSync(outside))
})

t.test('spills into its own folder when memory is short', async (t) => {
  const dir = t.testdir()
  const store = await openStore({
    dataDir: dir,
    memoryLimitBytes: 64 * 1024 * 1024,
    threads: 2,
    isJournalComplete: true,
    clock: systemClock,
  })
  t.teardown(store.close)
  const reader = await store.writer.runAndReadAll(
    'select count(*) from (select x, md5(x::varchar) as m from range(3000000) r(x) order by m)',
  )
  t.strictSame(reader.getRowsJson(), [['3000000']])
  const limit = await store.writer.runAndReadAll("select current_setting('max_temp_directory_size')")
  t.strictSame(limit.getRowsJson(), [['4.0 GiB']])
})
