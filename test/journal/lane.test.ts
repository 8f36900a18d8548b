import t from 'tap'
import { command, flaggedIn, openLane, part, readAll, run } from './lane-world.ts'
import { errno, SimulatedDisk } from './simulated-disk.ts'

t.test('reads back what was appended, in order, over many segments', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk)
  const texts = Array.from({ length: 50 }, (_, i) => `${i}:${'x'.repeat(i * 5)}`)
  for (const [id, text] of texts.entries()) {
    lane.append(id, [part(text)])
    run(lane)
  }
  t.same(
    acks.map((ack) => ack.id),
    texts.map((_, i) => i),
  )
  t.ok(disk.list('/j/realtime').filter((name) => name.endsWith('.seg')).length > 3)
  const { texts: read, gaps, records } = readAll(disk, lane)
  t.same(read, texts)
  t.same(gaps, [])
  t.ok(records.every((record) => record.payload.byteOffset % 8 === 0))
})

t.test('commits queued chains in one group and large ones by reference', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, { segmentBytes: 10_000_000, syncBytesMax: 1_000_000 })
  const texts = ['small', 'L'.repeat(100_000), 'also small', 'M'.repeat(33_000)]
  for (const [id, text] of texts.entries()) lane.append(id, [part(text)])
  const before = disk.callCount
  run(lane)
  t.equal(acks.length, 4)
  // Five calls create the segment: open, writev, fdatasync, rename, fsync. Then one writev and one fdatasync.
  t.equal(disk.callCount - before, 7)
  t.same(readAll(disk, lane, 1000).texts, texts)
})

t.test('gives the memory of long parts back once they are written', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { segmentBytes: 20_000_000, syncBytesMax: 1_000_000 })
  const size = 5 * 1024 * 1024
  const long = { ...part(''), payload: new Uint8Array(size).fill(0x61) }
  const short = part('short')
  lane.append(1, [long, short])
  t.equal(lane.step(), true)
  t.equal(long.payload.length, 0)
  run(lane)
  t.equal(short.payload.length, 5)
  t.same(
    readAll(disk, lane).texts.map((text) => text.length),
    [size, 5],
  )
})

t.test('writes long key and duplicate columns from where they are', async (t) => {
  const disk = new SimulatedDisk()
  const keys = Array.from({ length: 300_000 }, (_, i) => i + 1)
  const { lane, acks } = openLane(disk, { segmentBytes: 10_000_000, dedupWindowEvents: 400_000 })
  lane.append(0, [part('first', keys)])
  lane.append(1, [part('again', keys)])
  run(lane)
  t.same(
    acks.map((ack) => ack.duplicateCount),
    [0, 300_000],
  )
  const { texts, records, gaps } = readAll(disk, lane, 1000)
  t.same([texts, gaps], [['first', 'again'], []])
  t.equal(records[0]?.duplicates, null)
  t.equal(flaggedIn(records[1]!).length, 300_000)
})

t.test('loops over short writes', async (t) => {
  const disk = new SimulatedDisk()
  disk.writeBytesMax = 7
  const { lane } = openLane(disk)
  lane.append(0, [part('one'), part('two')])
  run(lane)
  t.same(readAll(disk, lane).texts, ['one', 'two'])
})

t.test('syncs a long chain piece by piece and publishes it whole', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, { syncBytesMax: 100, segmentBytes: 10_000 })
  const syncs: number[] = []
  disk.onCall = (_, name) => {
    if (name === 'fdatasync') syncs.push(lane.status().committed)
  }
  lane.append(0, [part('a'.repeat(90)), part('b'.repeat(250)), part('c'.repeat(90))])
  t.ok(lane.step())
  t.equal(acks.length, 0)
  run(lane)
  t.ok(syncs.length >= 5)
  t.ok(syncs.every((committed) => committed === 0))
  t.same(acks, [{ id: 0, position: 0, end: 120 + 280 + 120, duplicateCount: 0 }])
})

t.test('flags the events seen before, also within one chain', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk)
  lane.append(0, [part('first', [1, 2, 0, 0, 2])])
  lane.append(1, [part('retry', [3, 1]), part('more', [3, 0, 4])])
  lane.append(2, [command('delete')])
  run(lane)
  t.same(
    acks.map((ack) => ack.duplicateCount),
    [1, 2, 0],
  )
  const { records } = readAll(disk, lane)
  t.same(records.map(flaggedIn), [[4], [1], [0], []])
  t.same(
    records.map((record) => record.kind),
    ['events', 'events', 'events', 'command'],
  )
})

t.test('forgets a key when exactly as many others came after it as the window holds', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, { dedupWindowEvents: 3 })
  lane.append(0, [part('', [1, 2, 3])])
  lane.append(1, [part('', [1])])
  lane.append(2, [part('', [4])])
  lane.append(3, [part('', [2])])
  lane.append(4, [part('', [1])])
  run(lane)
  t.same(
    acks.map((ack) => ack.duplicateCount),
    [0, 1, 0, 1, 0],
  )
})

t.test('remembers keys over a restart, with sidecars, without them, and with damaged ones', async (t) => {
  for (const damage of ['none', 'missing', 'damaged'] as const) {
    const disk = new SimulatedDisk()
    const first = openLane(disk)
    for (let id = 0; id < 40; id++) {
      first.lane.append(id, [part('x'.repeat(50), [id + 1])])
      run(first.lane)
    }
    first.lane.close()
    const sidecars = disk.list('/j/realtime').filter((name) => name.endsWith('.keys'))
    t.ok(sidecars.length > 1)
    if (damage === 'missing') disk.unlink(`/j/realtime/${sidecars[0]}`)
    if (damage === 'damaged') disk.edit(`/j/realtime/${sidecars[0]}`, (bytes) => bytes.fill(1, 34, 35))
    const second = openLane(disk)
    second.lane.append(0, [
      part(
        '',
        Array.from({ length: 42 }, (_, i) => i + 1),
      ),
    ])
    run(second.lane)
    t.equal(second.acks[0]?.duplicateCount, 40, damage)
  }
})

t.test('refuses with journal_full when a write finds no room, and resumes by itself', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks, refusedIds } = openLane(disk, { segmentBytes: 100_000 })
  lane.append(0, [part('before', [1])])
  run(lane)
  disk.onCall = (_, name) => {
    if (name === 'writev') throw errno('ENOSPC', 'write')
  }
  lane.append(1, [part('refused', [2])])
  lane.append(2, [part('refused too', [3])])
  run(lane)
  t.same(refusedIds, [1, 2])
  t.equal(lane.status().isFull, true)
  lane.append(3, [part('at once', [4])])
  t.same(refusedIds, [1, 2, 3])
  disk.onCall = () => {}
  lane.tick()
  t.equal(lane.status().isFull, false)
  // A retry of what was refused is not a duplicate of it.
  lane.append(4, [part('after', [2, 3, 4, 1])])
  run(lane)
  t.same(
    acks.map(({ id, duplicateCount }) => [id, duplicateCount]),
    [
      [0, 0],
      [4, 1],
    ],
  )
  t.same(readAll(disk, lane).texts, ['before', 'after'])
})

t.test('takes back all pieces of a long chain that did not find room to its end', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks, refusedIds } = openLane(disk, {
    segmentBytes: 100_000,
    syncBytesMax: 100,
    dedupWindowEvents: 4,
  })
  lane.append(0, [part('kept', [1, 2, 3])])
  run(lane)
  lane.append(1, [part('a'.repeat(100), [4, 5]), part('b'.repeat(100), [6, 7]), part('c', [8])])
  t.ok(lane.step())
  disk.onCall = (_, name) => {
    if (name === 'writev') throw errno('ENOSPC', 'write')
  }
  run(lane)
  t.same(refusedIds, [1])
  disk.onCall = () => {}
  lane.tick()
  lane.append(2, [part('next', [1, 4, 2, 8, 3])])
  run(lane)
  // 4 and 8 push 1 and 2 out, each behind its own question.
  t.same(acks[1]?.duplicateCount, 3)
  t.same(readAll(disk, lane).texts, ['kept', 'next'])
  lane.close()
  t.same(readAll(disk, openLane(disk).lane).texts, ['kept', 'next'])
})

t.test('fails for good when a sync fails, and syncs no second time', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks, errors } = openLane(disk)
  lane.append(0, [part('before')])
  run(lane)
  let syncCount = 0
  disk.onCall = (_, name) => {
    if (name === 'fdatasync' && ++syncCount === 1) throw errno('EIO', 'fdatasync')
  }
  lane.append(1, [part('lost')])
  lane.append(2, [part('lost too')])
  run(lane)
  lane.append(3, [part('later')])
  run(lane)
  lane.tick()
  lane.close()
  t.same(errors, ['journal_failed'])
  t.same(
    acks.map((ack) => ack.id),
    [0],
  )
  t.equal(syncCount, 1)
})

t.test('fails when what a full disk left behind cannot be cut off', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, refusedIds, errors } = openLane(disk)
  disk.onCall = (_, name) => {
    if (name === 'writev') throw errno('ENOSPC', 'write')
    if (name === 'ftruncate') throw errno('EIO', 'ftruncate')
  }
  lane.append(0, [part('first')])
  run(lane)
  // The segment itself could not be created: nothing to cut yet.
  t.same([refusedIds, errors], [[0], []])
  disk.onCall = () => {}
  lane.tick()
  lane.append(1, [part('second')])
  run(lane)
  disk.onCall = (_, name) => {
    if (name === 'writev') throw errno('ENOSPC', 'write')
    if (name === 'ftruncate') throw errno('EIO', 'ftruncate')
  }
  lane.append(2, [part('third')])
  run(lane)
  t.same([refusedIds, errors], [[0], ['journal_failed']])
})

t.test('refuses below the low-water mark of the disk and resumes a quarter above it', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, refusedIds, acks } = openLane(disk, { freeBytesMin: 1000 })
  lane.append(0, [part('queued before')])
  const fullAt = (freeBytes: number): boolean => {
    disk.freeBytesNow = freeBytes
    lane.tick()
    return lane.status().isFull
  }
  t.same([fullAt(1000), fullAt(999), fullAt(1249), fullAt(1250)], [false, true, true, false])
  t.equal(fullAt(0), true)
  lane.append(1, [part('refused')])
  run(lane)
  t.same(refusedIds, [1])
  t.same(
    acks.map((ack) => ack.id),
    [0],
  )
})
