import t from 'tap'
import type { Position } from '../../src/journal/journal.ts'
import type { LaneOptions } from '../../src/journal/lane-options.ts'
import { countExpired, outdatedSidecars, type StoredSegment } from '../../src/journal/sealed-segments.ts'
import { openLane, part, readAll, run } from './lane-world.ts'
import { SimulatedDisk, seededRandom } from './simulated-disk.ts'

const hourMs = 3_600_000

/** Segments of 164 bytes, 100 of them positions, made an hour apart from hour 0 on. */
const segments: StoredSegment[] = [0, 1, 2, 3].map((i) => ({
  base: (100 * i) as Position, // made up for the test
  fileBytes: 164,
  createdMs: i * hourMs,
}))

function expired(rule: {
  released?: number
  keepBytes?: number
  nowMs?: number
  isPressed?: boolean
}): number {
  const released = (rule.released ?? 400) as Position // made up for the test
  const { keepBytes = 10_000, nowMs = 0, isPressed = false } = rule
  return countExpired(segments, 44, { released, keepBytes, keepMs: 72 * hourMs, nowMs, isPressed })
}

t.test('deletes nothing that is neither too old nor too much', async (t) => {
  t.equal(expired({}), 0)
})

t.test('deletes by age', async (t) => {
  t.equal(expired({ nowMs: 72 * hourMs }), 0)
  t.equal(expired({ nowMs: 72 * hourMs + 1 }), 1)
  t.equal(expired({ nowMs: 74 * hourMs + 1 }), 3)
})

t.test('deletes by size, counting the segment being written', async (t) => {
  t.equal(expired({ keepBytes: 700 }), 0)
  t.equal(expired({ keepBytes: 699 }), 1)
  t.equal(expired({ keepBytes: 44 }), 4)
})

t.test('never deletes what is not wholly released, not even under pressure', async (t) => {
  t.equal(expired({ isPressed: true }), 4)
  t.equal(expired({ isPressed: true, released: 399 }), 3)
  t.equal(expired({ keepBytes: 0, released: 199 }), 1)
  t.equal(expired({ nowMs: 1000 * hourMs, released: 99 }), 0)
})

t.test('keeps the sidecars that the window reaches back to', async (t) => {
  const sidecars = [0, 100, 200, 300].map((base) => ({ base: base as Position, keyCount: 10 }))
  const outdated = (newerKeys: number, keysMax: number, oldest: number | null): number[] =>
    outdatedSidecars(sidecars, newerKeys, keysMax, oldest as Position | null).map(({ base }) => base)
  t.same(outdated(5, 25, 400), [100, 0])
  t.same(outdated(4, 25, 400), [0])
  t.same(outdated(5, 26, 400), [0])
  t.same(outdated(4, 35, 400), [])
  t.same(outdated(0, 10, null), [200, 100, 0])
  // Their segments are still there.
  t.same(outdated(0, 10, 200), [100, 0])
  t.same(outdated(0, 10, 0), [])
})

const options: Partial<LaneOptions> = { segmentBytes: 400, keepBytes: 600, dedupWindowEvents: 12 }

t.test('deletes released segments, and remembers their keys over a restart', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, options)
  const append = (id: number): void => {
    lane.append(id, [part('x'.repeat(80), [id + 1])])
    run(lane)
  }
  for (let id = 0; id < 20; id++) append(id)
  lane.tick()
  t.equal(lane.status().oldest, 0)
  lane.release(lane.status().committed)
  lane.tick()
  const { oldest, storedBytes } = lane.status()
  t.ok(oldest > 0)
  t.ok(storedBytes <= 600)
  const { records, gaps } = readAll(disk, lane)
  t.equal(records[0]?.position, oldest)
  t.same(gaps, [])
  const keyFiles = disk.list('/j/realtime').filter((name) => name.endsWith('.keys'))
  const segmentFiles = disk.list('/j/realtime').filter((name) => name.endsWith('.seg'))
  t.ok(keyFiles.length > segmentFiles.length - 1)
  lane.close()
  const again = openLane(disk, options)
  again.lane.append(0, [part('', [9, 8, 10, 20])])
  run(again.lane)
  // The window holds the keys 9 to 20; the second one pushes 9 out behind the first.
  t.equal(again.acks[0]?.duplicateCount, 3)
})

t.test('remembers the keys of deleted segments over a power cut', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { ...options, keepBytes: 0 })
  for (let id = 0; id < 8; id++) {
    lane.append(id, [part('x'.repeat(80), [id + 1])])
    run(lane)
  }
  lane.release(lane.status().committed)
  lane.tick()
  t.ok(lane.status().oldest > 0)
  for (let seed = 0; seed < 20; seed++) {
    const copy = disk.clone()
    copy.cutPower(seededRandom(seed))
    const again = openLane(copy, options)
    again.lane.append(0, [part('', [1, 2, 3, 4, 5, 6, 7, 8])])
    run(again.lane)
    t.equal(again.acks[0]?.duplicateCount, 8)
  }
})

t.test('makes a sidecar that found no room before its segment goes', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { ...options, keepBytes: 0 })
  disk.onCall = (_, name, path) => {
    if (name === 'open' && path.includes('.keys'))
      throw Object.assign(new Error('no room'), { code: 'ENOSPC', syscall: 'open' })
  }
  for (let id = 0; id < 8; id++) {
    lane.append(id, [part('x'.repeat(80), [id + 1])])
    run(lane)
  }
  lane.release(lane.status().committed)
  lane.tick()
  t.equal(lane.status().oldest, 0)
  disk.onCall = () => {}
  lane.tick()
  t.ok(lane.status().oldest > 0)
  disk.killProcess()
  const again = openLane(disk, options)
  again.lane.append(0, [part('', [1, 2, 3, 4, 5, 6, 7, 8])])
  run(again.lane)
  t.equal(again.acks[0]?.duplicateCount, 8)
})

t.test(
  'goes on from where it stood after everything was released and deleted between two restarts',
  async (t) => {
    const disk = new SimulatedDisk()
    const first = openLane(disk, options)
    first.lane.append(0, [part('x', [1])])
    run(first.lane)
    first.lane.close()
    // Nothing is appended in this run, so no segment is being written.
    const second = openLane(disk, { ...options, keepBytes: 0 })
    const { committed } = second.lane.status()
    t.ok(committed > 0)
    second.lane.release(committed)
    second.lane.tick()
    second.lane.close()
    t.equal(openLane(disk, options).lane.status().committed, committed)
  },
)
