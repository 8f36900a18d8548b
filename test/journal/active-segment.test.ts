import t from 'tap'
import { openLane, part, readAll, run } from './lane-world.ts'
import { errno, SimulatedDisk } from './simulated-disk.ts'

const KiB = 1024
const path = '/j/realtime/00000000000000000000.seg'
const sizeOf = (disk: SimulatedDisk): number => disk.bytesOf(path).byteLength

t.test('is made longer ahead of short groups, in whole blocks of zeros', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { segmentBytes: 10_000 * KiB, syncBytesMax: 1000 * KiB })
  const sizes = new Set<number>()
  const texts = Array.from({ length: 300 }, (_, i) => `${i}:${'x'.repeat(2000)}`)
  for (const [id, text] of texts.entries()) {
    lane.append(id, [part(text)])
    run(lane)
    const size = sizeOf(disk)
    sizes.add(size)
    t.equal(size % 4096, 0)
    const end = lane.status().committed + 64
    t.ok(end <= size && size <= end + 260 * KiB)
    t.ok(
      disk
        .bytesOf(path)
        .subarray(end)
        .every((byte) => byte === 0),
    )
  }
  t.equal(sizes.size, 3)
  t.same(readAll(disk, lane).texts, texts)
  t.equal(lane.status().storedBytes, lane.status().committed + 64, 'zeros do not count as stored')
})

t.test('is not made longer than a segment may be, nor by a long group', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { segmentBytes: 1000 * KiB, syncBytesMax: 1000 * KiB })
  lane.append(0, [part('x'.repeat(100 * KiB))])
  run(lane)
  t.equal(sizeOf(disk), lane.status().committed + 64)
  lane.append(1, [part('x')])
  run(lane)
  t.ok(sizeOf(disk) > 350 * KiB)

  const small = new SimulatedDisk()
  const other = openLane(small, { segmentBytes: 10_000 })
  other.lane.append(0, [part('x')])
  run(other.lane)
  t.equal(sizeOf(small), 10_000)
})

t.test('gives the zeros back when it is sealed', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk)
  lane.append(0, [part('one')])
  run(lane)
  t.equal(sizeOf(disk), 1024)
  lane.close()
  t.equal(sizeOf(disk), 64 + acks[0]!.end + 24)
  t.equal(openLane(disk).lane.status().storedBytes, sizeOf(disk))
})

t.test('gives the zeros back when the disk is full, and goes on from there', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, refusedIds } = openLane(disk)
  lane.append(0, [part('one')])
  run(lane)
  disk.onCall = (_, name) => {
    if (name === 'writev') throw errno('ENOSPC', 'write')
  }
  lane.append(1, [part('two')])
  run(lane)
  t.same(refusedIds, [1])
  t.equal(sizeOf(disk), 64 + lane.status().committed)
  disk.onCall = () => {}
  lane.tick()
  lane.append(2, [part('three')])
  run(lane)
  t.equal(sizeOf(disk), 1024)
  t.same(readAll(disk, lane).texts, ['one', 'three'])
})
