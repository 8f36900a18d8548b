import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { type JournalOptions, openJournal } from '../../src/journal/client.ts'
import type { Position } from '../../src/journal/journal.ts'
import { pack } from '../../src/journal/parcel.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { journalContract } from './journal-contract.ts'
import { command, part, textOf } from './lane-world.ts'

function optionsIn(folder: string): JournalOptions {
  return {
    dir: join(folder, 'journal'),
    quarantineDir: join(folder, 'quarantine'),
    segmentBytes: 2048,
    freeBytesMin: 0,
  }
}

journalContract(t, 'threaded journal', async (t, limits) => {
  const options = optionsIn(t.testdir())
  const journal = await openJournal({ ...options, ...limits })
  t.teardown(() => journal.close())
  return { journal, reader: () => openJournalReader(options) }
})

t.test('goes on after a restart: same epoch, positions that only grow, keys remembered', async (t) => {
  const options = optionsIn(t.testdir())
  const first = await openJournal(options)
  const { epoch } = first.state()
  const before = await first.append('realtime', [part('one', [7])])
  await first.close()
  t.match(epoch, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const second = await openJournal(options)
  t.equal(second.state().epoch, epoch)
  const after = await second.append('realtime', [part('two', [7])])
  t.ok(after.position >= before.end)
  t.equal(after.duplicateCount, 1)
  const reader = openJournalReader(options)
  const { records, next } = reader.read('realtime', 0 as Position, after.end, 1_000_000)
  const rest = reader.read('realtime', next, after.end, 1_000_000)
  t.same([...records, ...rest.records].map(textOf), ['one', 'two'])
  await second.close()
})

t.test('reads while the journal is written, over segments that appear and go', async (t) => {
  const options = optionsIn(t.testdir())
  const journal = await openJournal({ ...options, keepBytes: 0 })
  const reader = openJournalReader(options)
  const read: string[] = []
  let from = 0 as Position
  const texts = Array.from({ length: 300 }, (_, i) => `${i}:${'y'.repeat(i % 97)}`)
  for (const text of texts) {
    const { end } = await journal.append('historical', [part(text)])
    if (text.length % 3 > 0) continue
    while (from < end) {
      const chunk = reader.read('historical', from, end, 500)
      t.same(chunk.gaps, [])
      read.push(...chunk.records.map(textOf))
      from = chunk.next
    }
    journal.release('historical', from)
  }
  const { committed } = journal.state().lanes.historical
  while (from < committed) {
    const chunk = reader.read('historical', from, committed, 500)
    read.push(...chunk.records.map(textOf))
    from = chunk.next
  }
  t.same(read, texts)
  await journal.close()
})

t.test('chains of every kind land in the order of the calls, many at once', async (t) => {
  const options = { ...optionsIn(t.testdir()), segmentBytes: 64 * 1024 * 1024 }
  const journal = await openJournal(options)
  // In one turn of the event loop: more than the memory holds that short chains go through.
  const texts = Array.from({ length: 3000 }, (_, i) => `${i}:${'z'.repeat(i % 100 === 50 ? 20_000 : 1000)}`)
  const chains = texts.map((text, i) => (i % 70 === 30 ? command(text) : part(text)))
  const appended = await Promise.all(
    chains.map((chain, i) => journal.append('realtime', i % 90 === 60 ? pack([chain]) : [chain])),
  )
  const upTo = appended.at(-1)!.end
  t.equal(journal.state().lanes.realtime.committed, upTo)
  const { records } = openJournalReader(options).read('realtime', 0 as Position, upTo, 10_000_000)
  t.same(records.map(textOf), texts)
  t.same(
    records.map(({ position }) => position),
    appended.map(({ position }) => position),
  )
  await journal.close()
})

t.test('refuses segments of another journal, and segments without an epoch', async (t) => {
  const options = optionsIn(t.testdir())
  const journal = await openJournal(options)
  await journal.append('realtime', [part('x')])
  await journal.close()
  const path = join(options.dir, 'epoch')
  const epoch = readFileSync(path, 'latin1')
  rmSync(path)
  await t.rejects(openJournal(options), { code: 'data_dir_unusable' })
  t.notOk(existsSync(path))
  writeFileSync(path, 'not a uuid')
  await t.rejects(openJournal(options), { code: 'data_dir_unusable' })
  writeFileSync(path, '0190c3a2-6b1e-7c3d-8e4f-5a6b7c8d9e0f\n')
  await t.rejects(openJournal(options), { code: 'lineage_foreign', detail: /belongs to the journal/ })
  writeFileSync(path, epoch)
  const again = await openJournal(options)
  await again.close()
})

t.test('takes parts whose memory is shared, and leaves it to its owner', async (t) => {
  const options = optionsIn(t.testdir())
  const journal = await openJournal(options)
  const shared = new TextEncoder().encode('one two')
  const one = { ...command(''), payload: shared.subarray(0, 3) }
  const two = { ...command(''), payload: shared.subarray(4, 7) }
  const { end } = await journal.append('realtime', [one, two])
  t.equal(Buffer.from(shared).toString(), 'one two')
  const { records } = openJournalReader(options).read('realtime', 0 as Position, end, 1000)
  t.same(records.map(textOf), ['one', 'two'])
  await journal.close()
})

t.test('leaves no port open of a packed chain that it refuses', async (t) => {
  const journal = await openJournal({ ...optionsIn(t.testdir()), queueBytesMax: 4096 })
  const taken = journal.append('realtime', pack([part('x'.repeat(10_000))]))
  for (const code of ['journal_full', 'stopping']) {
    const parcel = pack([part('y')])
    const isClosed = once(parcel.port, 'close')
    await t.rejects(journal.append('realtime', parcel), { code })
    await isClosed
    if (code === 'journal_full') await Promise.all([taken, journal.close()])
  }
})

t.test('answers an append that is refused while it closes', async (t) => {
  const journal = await openJournal({ ...optionsIn(t.testdir()), freeBytesMin: Number.MAX_SAFE_INTEGER })
  const appended = journal.append('realtime', [part('x')])
  const closed = journal.close()
  await t.rejects(appended, { code: 'journal_full' })
  await closed
})

t.test('answers an append whose thread is gone before it hears that it is to close', async (t) => {
  const journal = await openJournal(optionsIn(t.testdir()))
  const appended = journal.append('realtime', [part('x')])
  const { postMessage } = Worker.prototype
  t.teardown(() => {
    Worker.prototype.postMessage = postMessage
  })
  Worker.prototype.postMessage = function () {
    void this.terminate()
  }
  const closed = journal.close()
  await t.rejects(appended, { code: 'journal_failed' })
  await closed
})

t.test('refuses a read before the oldest segment', async (t) => {
  const options = optionsIn(t.testdir())
  const journal = await openJournal(options)
  const { end } = await journal.append('realtime', [part('x')])
  t.throws(
    () => openJournalReader(options).read('realtime', -8 as Position, end, 1000),
    /not before the oldest/,
  )
  await journal.close()
})

t.test('says once that it failed, and refuses everything from then on, in both lanes', async (t) => {
  const options = optionsIn(t.testdir())
  const journal = await openJournal(options)
  const failures: Error[] = []
  const { promise, resolve } = failure()
  journal.onFailed((error) => {
    failures.push(error)
    resolve()
  })
  await journal.append('realtime', [part('x')])
  // Without its folder the lane can neither see how much room there is nor start a segment.
  rmSync(join(options.dir, 'realtime'), { recursive: true })
  await promise
  await t.rejects(journal.append('realtime', [part('y')]), { code: 'journal_failed' })
  await t.rejects(journal.append('historical', [part('y')]), { code: 'journal_failed' })
  await journal.close()
  t.equal(failures.length, 1)
})

function failure(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
