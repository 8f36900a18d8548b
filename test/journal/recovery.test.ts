// What is torn and what is damaged in a segment that was not sealed. A group commit is written over zeros, and a power
// cut leaves sectors of it as they were, any of them.

import t from 'tap'
import type { Position } from '../../src/journal/journal.ts'
import type { LaneOptions } from '../../src/journal/lane-options.ts'
import { flip, openLane, part, type ReadBack, readAll, run } from './lane-world.ts'
import { SimulatedDisk, seededRandom } from './simulated-disk.ts'

const path = '/j/realtime/00000000000000000000.seg'
const headerBytes = 64
const sectorBytes = 512
const options: Partial<LaneOptions> = { segmentBytes: 100_000, syncBytesMax: 50_000 }

interface Span {
  readonly position: Position
  readonly end: Position
}

/** A lane that was killed after two groups of ten acknowledged records each, `a:…` to `j:…` and `k:…` to `t:…`. */
function killedLane(): { disk: SimulatedDisk; spans: Span[] } {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, options)
  for (const group of ['abcdefghij', 'klmnopqrst']) {
    for (const [id, name] of [...group].entries()) lane.append(id, [part(`${name}:${'-'.repeat(100 * id)}`)])
    run(lane)
  }
  disk.killProcess()
  return { disk, spans: acks.map(({ position, end }) => ({ position, end }) as Span) }
}

interface Recovered extends ReadBack {
  readonly ids: string
  readonly warnings: string[]
  readonly setAside: number
}

function recover(disk: SimulatedDisk): Recovered {
  const warnings: string[] = []
  const { lane } = openLane(disk, {
    ...options,
    log: (level, message) => {
      if (level !== 'info') warnings.push(message)
    },
  })
  const setAside = disk.list('/q').length
  const back = readAll(disk, lane)
  return { ...back, warnings, setAside, ids: back.texts.map((text) => text[0]).join('') }
}

/** Takes back what stands between two positions in some sector, as if it had never been written. */
function unwrite(disk: SimulatedDisk, from: number, to: number, sector: number): void {
  disk.edit(path, (bytes) => {
    const start = Math.max(headerBytes + from, sector * sectorBytes)
    bytes.fill(0, start, Math.min(headerBytes + to, (sector + 1) * sectorBytes))
    return bytes
  })
}

/** Damages a record at rest: its first byte behind the header. */
function damage(disk: SimulatedDisk, { position }: Span): void {
  flip(disk, path, (headerBytes + position + 24) * 8)
}

const sectorOf = (position: number): number => Math.floor((headerBytes + position) / sectorBytes)

t.test('cuts nothing but zeros after a kill, and does not speak of it', async (t) => {
  const { disk } = killedLane()
  const { ids, gaps, warnings } = recover(disk)
  t.same([ids, gaps, warnings], ['abcdefghijklmnopqrst', [], []])
})

t.test('cuts the last group where a sector of it was not written, whatever follows', async (t) => {
  const random = seededRandom(1)
  const { disk, spans } = killedLane()
  const group = { position: spans[10]!.position, end: spans[19]!.end }
  const first = sectorOf(group.position)
  const sectors = Array.from({ length: sectorOf(group.end - 1) - first + 1 }, (_, i) => first + i)
  for (let round = 0; round < 100; round++) {
    // Each sector once, the first one in time, then any of them.
    const missing = sectors.filter((_, i) => (round < sectors.length ? i === round : random() < 0.3))
    const copy = disk.clone()
    for (const sector of missing) unwrite(copy, group.position, group.end, sector)
    const lost = spans.findIndex(
      (span, i) =>
        i >= 10 && missing.some((s) => sectorOf(span.position) <= s && s <= sectorOf(span.end - 1)),
    )
    const { ids, gaps, setAside, warnings } = recover(copy)
    const expected = 'abcdefghijklmnopqrst'.slice(0, lost < 0 ? 20 : lost)
    t.same([ids, gaps, setAside], [expected, [], 0], `without ${missing}`)
    t.same(warnings, lost < 0 ? [] : ['journal: cut what was never acknowledged'])
  }
})

t.test('sets aside what was written and has changed since, in the last group too', async (t) => {
  for (const damaged of [3, 10, 14, 18]) {
    const { disk, spans } = killedLane()
    damage(disk, spans[damaged]!)
    const { ids, gaps, setAside } = recover(disk)
    const expected = [...'abcdefghijklmnopqrst'].filter((_, i) => i !== damaged).join('')
    t.same([ids, gaps, setAside], [expected, [spans[damaged]], 1])
  }
})

t.test('sets aside a changed record that holds many zeros, but not a sector of them', async (t) => {
  const disk = new SimulatedDisk()
  const { lane, acks } = openLane(disk, options)
  for (const [id, text] of [`a:${'\0'.repeat(1000)}`, 'b:'].entries()) lane.append(id, [part(text)])
  run(lane)
  disk.killProcess()
  const { position, end } = acks[0]!
  // One byte a sector is not zero.
  disk.edit(path, (bytes) => {
    for (let at = headerBytes + position + 100; at < headerBytes + end - 100; at += 400) bytes[at] = 1
    return bytes
  })
  const { ids, gaps, setAside } = recover(disk)
  t.same([ids, gaps, setAside], ['b', [{ position, end }], 1])
})

t.test('sets aside a sector of zeros in a group that another one follows', async (t) => {
  const { disk, spans } = killedLane()
  const { position, end } = spans[9]!
  unwrite(disk, position, end, sectorOf(position) + 1)
  const { ids, gaps, setAside } = recover(disk)
  t.same([ids, gaps, setAside], ['abcdefghiklmnopqrst', [spans[9]], 1])
})

t.test('sets aside what reaches from the group before into the last one', async (t) => {
  const { disk, spans } = killedLane()
  damage(disk, spans[9]!)
  unwrite(disk, spans[10]!.position, spans[19]!.end, sectorOf(spans[10]!.position))
  const { ids, gaps } = recover(disk)
  const after = spans.find((span, i) => i > 10 && sectorOf(span.position) > sectorOf(spans[10]!.position))!
  t.same(gaps, [{ position: spans[9]!.position, end: after.position }])
  t.equal(ids, `abcdefghi${'klmnopqrst'.slice(spans.indexOf(after) - 10)}`)
})

t.test('sets damage aside that stands before a torn stretch, and cuts from there', async (t) => {
  for (const damaged of [4, 13]) {
    const { disk, spans } = killedLane()
    damage(disk, spans[damaged]!)
    unwrite(disk, spans[17]!.position, spans[19]!.end, sectorOf(spans[17]!.position) + 1)
    const { ids, gaps, setAside } = recover(disk)
    const expected = [...'abcdefghijklmnopq'].filter((_, i) => i !== damaged).join('')
    t.same([ids, gaps, setAside], [expected, [spans[damaged]], 1])
  }
})
