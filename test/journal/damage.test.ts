// Damage at rest: what is cut, what is a gap, and that everything else is served.

import { crc32 } from 'node:zlib'
import t from 'tap'
import type { JournalRecord, Position } from '../../src/journal/journal.ts'
import type { LaneOptions } from '../../src/journal/lane-options.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { flip, laneOptions, openLane, part, type ReadBack, readAll, run, textOf } from './lane-world.ts'
import { SimulatedDisk, seededRandom } from './simulated-disk.ts'

const headerBytes = 64
const oneSegment: Partial<LaneOptions> = { segmentBytes: 100_000 }
const first = '/j/realtime/00000000000000000000.seg'

interface Stored {
  readonly disk: SimulatedDisk
  /** Start and end of every chain in the lane. */
  readonly spans: { position: number; end: number }[]
}

/**
 * A lane that was killed after ten acknowledged records, `0:…` to `9:…`, in one segment unless said otherwise. Frames
 * have no padding, so that every bit of them is covered by a checksum.
 */
function killedLane(options: Partial<LaneOptions> = oneSegment): Stored {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, options)
  for (let id = 0; id < 10; id++) {
    lane.append(id, [part(`${id}:${'-'.repeat(8 * id + 6)}`, [id + 1])])
    run(lane)
  }
  disk.killProcess()
  return { disk, spans: acks.map(({ position, end }) => ({ position, end })) }
}

/** Names of the records found after the next start, and the gaps between them. */
function recover(
  disk: SimulatedDisk,
  options: Partial<LaneOptions> = oneSegment,
): ReadBack & { ids: string } {
  const { lane } = openLane(disk, options)
  const back = readAll(disk, lane)
  return { ...back, ids: back.texts.map((text) => text.split(':')[0]).join('') }
}

t.test('cuts a tail that ends anywhere within the last three records', async (t) => {
  const { disk, spans } = killedLane()
  for (let end = spans[7]!.position; end <= spans[9]!.end; end++) {
    const copy = disk.clone()
    copy.edit(first, (bytes) => bytes.slice(0, headerBytes + end))
    const { ids, gaps } = recover(copy)
    const expected = end >= spans[9]!.end ? '0123456789' : end >= spans[9]!.position ? '012345678' : null
    t.equal(ids, expected ?? (end >= spans[8]!.position ? '01234567' : '0123456'), `end ${end}`)
    t.same(gaps, [])
  }
})

t.test('cuts a tail of zeros and a tail of garbage', async (t) => {
  const random = seededRandom(1)
  for (const fill of [() => 0, () => Math.floor(random() * 256)]) {
    const { disk } = killedLane()
    disk.edit(first, (bytes) => Uint8Array.from([...bytes, ...Array.from({ length: 3001 }, fill)]))
    t.same(recover(disk).ids, '0123456789')
    t.same(disk.list('/q'), [])
  }
})

t.test('cuts the parts of a chain that has no last part, and gives their keys back', async (t) => {
  const disk = new SimulatedDisk()
  const { lane } = openLane(disk, { ...oneSegment, syncBytesMax: 100 })
  lane.append(0, [part('0:', [1])])
  run(lane)
  lane.append(1, [part(`1:${'x'.repeat(100)}`, [2]), part(`2:${'x'.repeat(100)}`, [3]), part('3:', [4])])
  t.ok(lane.step())
  t.ok(lane.step())
  disk.killProcess()
  const again = openLane(disk, oneSegment)
  t.same(readAll(disk, again.lane).texts, ['0:'])
  again.lane.append(1, [part('', [1, 2, 3, 4])])
  run(again.lane)
  t.equal(again.acks[0]?.duplicateCount, 1)
})

t.test('knows no event again that was cut off, though a sidecar has its key', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, oneSegment)
  for (const id of [1, 2]) {
    lane.append(id, [part(`${id}:`, [id])])
    run(lane)
  }
  lane.close()
  disk.edit(first, (bytes) => bytes.slice(0, headerBytes + acks[1]!.end - 1))
  const again = openLane(disk, oneSegment)
  again.lane.append(0, [part('', [1, 2])])
  run(again.lane)
  t.equal(again.acks[0]?.duplicateCount, 1)
})

t.test('cuts a flipped bit in the last record of an unsealed segment', async (t) => {
  const { disk, spans } = killedLane()
  const { position, end } = spans[9]!
  for (let bit = position * 8; bit < end * 8; bit += 7) {
    const copy = disk.clone()
    flip(copy, first, headerBytes * 8 + bit)
    t.equal(recover(copy).ids, '012345678', `bit ${bit}`)
    t.same(copy.list('/q'), [])
  }
})

t.test('never stands behind what a consumer has read, whatever part of it was damaged since', async (t) => {
  for (const damagedFrom of [0, 4, 9]) {
    const { disk, spans } = killedLane()
    const applied = spans[9]!.end
    for (const { position } of spans.slice(damagedFrom)) flip(disk, first, (headerBytes + position + 30) * 8)
    const { lane, acks } = openLane(disk, oneSegment)
    t.ok(lane.status().committed >= applied)
    lane.append(0, [part('next')])
    run(lane)
    t.ok(acks[0]!.position >= applied)
    const reader = openJournalReader({ dir: '/j', quarantineDir: '/q', disk })
    const { records, gaps } = reader.read('realtime', applied as Position, lane.status().committed, 1000)
    t.same([records.map(textOf), gaps], [['next'], []])
    const { texts } = readAll(disk, lane)
    t.equal(texts.length, damagedFrom + 1)
    // And the next start agrees.
    disk.killProcess()
    t.same(readAll(disk, openLane(disk, oneSegment).lane).texts, texts)
  }
})

t.test('sets a flipped bit before a valid record aside, whether the segment is sealed or not', async (t) => {
  for (const isSealed of [false, true]) {
    const { disk, spans } = killedLane()
    if (isSealed) openLane(disk, oneSegment)
    const { position, end } = spans[4]!
    for (let bit = position * 8; bit < end * 8; bit += 7) {
      const copy = disk.clone()
      flip(copy, first, headerBytes * 8 + bit)
      const damaged = copy.bytesOf(first).slice(headerBytes + position, headerBytes + end)
      const { lane } = openLane(copy, oneSegment)
      // A sealed segment is not read at the start; its damage is found by whoever reads it.
      t.equal(copy.list('/q').length, isSealed ? 0 : 1)
      const { texts, gaps } = readAll(copy, lane)
      const ids = texts.map((text) => text.slice(0, 1)).join('')
      t.equal(ids, '012356789', `bit ${bit}`)
      t.same(gaps, [{ position, end }])
      const name = `journal-realtime-${String(position).padStart(20, '0')}-${String(end).padStart(20, '0')}.bin`
      t.same(copy.list('/q'), [name])
      t.same(copy.bytesOf(`/q/${name}`), damaged)
      // Nothing of the damaged bytes is lost from the journal either, and the gap stays one.
      const later = openLane(copy, oneSegment)
      later.lane.tick()
      t.equal(later.lane.status().damagedBytes, end - position)
      t.same(readAll(copy, later.lane).gaps, [{ position, end }])
    }
  }
})

t.test('lends records until they are taken back, whatever is damaged among them', async (t) => {
  const { disk, spans } = killedLane()
  openLane(disk, oneSegment)
  for (const [damaged, { position, end }] of spans.entries()) {
    const copy = disk.clone()
    flip(copy, first, (headerBytes + position + 30) * 8)
    const { lane } = openLane(copy, oneSegment)
    const { committed } = lane.status()
    for (const readsLent of [1, 3, 100]) {
      for (let bytesMax = 40; bytesMax < 800; bytesMax += 40) {
        const reader = openJournalReader({ dir: '/j', quarantineDir: '/q', disk: copy })
        const memories = new Set<ArrayBufferLike>()
        let ids = ''
        // The second time finds memory of the first.
        for (const from of [0, 0] as Position[]) {
          for (let next = from; next < committed; ) {
            const lent: JournalRecord[] = []
            for (let read = 0; read < readsLent && next < committed; read++) {
              const chunk = reader.read('realtime', next, committed, bytesMax)
              for (const gap of chunk.gaps) t.same(gap, { position, end })
              lent.push(...chunk.records)
              next = chunk.next
            }
            for (const record of lent) memories.add(record.payload.buffer)
            ids += lent.map((record) => textOf(record).split(':')[0]).join('')
            reader.takeBack()
          }
        }
        reader.close()
        const expected = '0123456789'.replace(String(damaged), '')
        t.equal(
          ids,
          expected + expected,
          `record ${damaged}, ${bytesMax} bytes at a time, ${readsLent} reads`,
        )
        // One for each size that was needed, and what is read before it is known to be.
        if (readsLent === 1) t.ok(memories.size <= 9, `${memories.size} memories`)
      }
    }
  }
})

t.test('knows of no record where the journal is damaged, sealed or forgotten', async (t) => {
  const { disk, spans } = killedLane()
  flip(disk, first, (headerBytes + spans[4]!.position + 30) * 8)
  const { lane } = openLane(disk, oneSegment)
  const reader = openJournalReader({ dir: '/j', quarantineDir: '/q', disk })
  const { committed } = lane.status()
  const at = (position: number) => {
    const found = reader.recordAt('realtime', position as Position, committed)
    return typeof found === 'string' ? found : textOf(found).slice(0, 1)
  }
  t.same([at(spans[3]!.position), at(spans[4]!.position), at(spans[5]!.position)], ['3', 'unknown', '5'])
  t.same([at(spans[4]!.position + 8), at(spans[5]!.position + 8)], ['unknown', 'none'])
  t.equal(at(spans[9]!.end), 'unknown', 'the seal')
  t.equal(at(-8), 'unknown', 'before the oldest segment')
  t.same(disk.list('/q').length, 1, 'looking sets nothing aside')
  lane.append(0, [part('x')])
  run(lane)
  const begin = (position: number) =>
    reader.recordAt('realtime', position as Position, lane.status().committed)
  t.match(begin(committed), { position: committed }, 'in a segment that has begun since')
  reader.close()
})

t.test('keeps damage that only half a chain follows, and cuts the half', async (t) => {
  const { position, end } = killedLane().spans[9]!
  const twin = new SimulatedDisk()
  const { lane } = openLane(twin, { ...oneSegment, syncBytesMax: 100 })
  for (let id = 0; id < 10; id++) lane.append(id, [part(`${id}:${'-'.repeat(8 * id + 6)}`, [id + 1])])
  lane.append(10, [part('a'.repeat(100)), part('b'.repeat(100))])
  while (lane.status().committed < end) lane.step()
  t.ok(lane.step())
  twin.killProcess()
  flip(twin, first, (headerBytes + position + 40) * 8)
  const { ids, gaps } = recover(twin)
  t.same([ids, gaps], ['012345678', [{ position, end }]])
})

t.test('serves the other segments when one is cut short, headless or gone', async (t) => {
  const many = { segmentBytes: 300 }
  const { disk } = killedLane(many)
  openLane(disk, many).lane.close()
  const names = disk.list('/j/realtime').filter((name) => name.endsWith('.seg'))
  const path = `/j/realtime/${names[1]}`
  const base = Number.parseInt(names[1]!, 10)
  const next = Number.parseInt(names[2]!, 10)
  const whole = recover(disk.clone(), many)
  t.equal(whole.ids, '0123456789')
  const within = whole.records.filter((record) => record.position >= base && record.position < next)
  t.ok(within.length >= 2)
  const without = (count: number): string =>
    whole.texts
      .filter((_, i) => !within.slice(within.length - count).includes(whole.records[i]!))
      .map((text) => text.split(':')[0])
      .join('')

  const short = disk.clone()
  short.edit(path, (bytes) => bytes.slice(0, headerBytes + within.at(-1)!.position - base + 5))
  const cut = recover(short, many)
  t.same([cut.ids, cut.gaps], [without(1), [{ position: within.at(-1)!.position, end: next }]])

  const headless = disk.clone()
  flip(headless, path, 40 * 8)
  const beheaded = recover(headless, many)
  t.same([beheaded.ids, beheaded.gaps], [without(within.length), [{ position: base, end: next }]])

  const missing = disk.clone()
  missing.unlink(path)
  const holed = recover(missing, many)
  // The segment before it ends where the missing one began.
  t.same([holed.ids, holed.gaps], [without(within.length), [{ position: base, end: next }]])
})

t.test('goes on behind a last segment whose header is damaged', async (t) => {
  const { disk, spans } = killedLane()
  flip(disk, first, 41 * 8)
  const { lane } = openLane(disk, oneSegment)
  const end = disk.bytesOf(first).byteLength - headerBytes
  t.ok(end >= spans[9]!.end)
  t.equal(lane.status().committed, end)
  lane.append(0, [part('next')])
  run(lane)
  const { texts, gaps } = readAll(disk, lane)
  t.same([texts, gaps], [['next'], [{ position: 0, end }]])
})

t.test('refuses a segment of another journal, of another place, and of a newer format', async (t) => {
  const { disk } = killedLane()
  const other = { epoch: '11111111-2222-4333-8444-555555555555' }
  t.throws(() => openLane(disk, { ...oneSegment, ...other }), { code: 'lineage_foreign' })
  const moved = disk.clone()
  moved.rename(first, '/j/realtime/00000000000000004096.seg')
  t.throws(() => openLane(moved, oneSegment), { code: 'lineage_foreign' })
  const newer = disk.clone()
  newer.edit(first, (bytes) => {
    const view = new DataView(bytes.buffer)
    view.setUint16(8, 4, true)
    view.setUint32(60, crc32(bytes.subarray(0, 60)), true)
    return bytes
  })
  t.throws(() => openLane(newer, oneSegment), {
    code: 'data_dir_unusable',
    detail: /version 4, this build reads versions 1 to 3/,
  })
})

t.test('never uses a position twice, over restarts of every kind', async (t) => {
  const disk = new SimulatedDisk()
  let last = 0
  for (let round = 0; round < 20; round++) {
    const { lane, acks } = openLane(disk, { ...laneOptions, segmentBytes: 400 })
    t.ok(lane.status().committed >= last)
    for (let id = 0; id < round % 4; id++) {
      lane.append(id, [part(`${round}`)])
      run(lane)
    }
    for (const { position, end } of acks) {
      t.ok(position >= last)
      last = end
    }
    if (round % 3 === 0) lane.close()
    else if (round % 3 === 1) disk.killProcess()
    else disk.cutPower(seededRandom(round))
  }
  t.equal(readAll(disk, openLane(disk).lane).texts.length, 30)
})
