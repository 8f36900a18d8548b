// A random workload is cut short at every call that changes the disk, in three ways: the machine loses power, the
// process dies, or the call fails. After the next start everything acknowledged is there, in order, and no chain is
// there by half.

import t, { type Test } from 'tap'
import type { LaneOptions } from '../../src/journal/lane-options.ts'
import { type LaneWorld, openLane, part, readAll, run } from './lane-world.ts'
import { errno, PowerCut, SimulatedDisk, seededRandom } from './simulated-disk.ts'

const options: Partial<LaneOptions> = {
  segmentBytes: 700,
  syncBytesMax: 150,
  dedupWindowEvents: 10,
  keepBytes: 1500,
  keepMs: Number.MAX_SAFE_INTEGER,
}

/** Groups over many sectors of the disk, most of them written over zeros. */
const manySectors: Partial<LaneOptions> = {
  ...options,
  segmentBytes: 300_000,
  syncBytesMax: 400_000,
  keepBytes: 600_000,
}

interface History {
  /** Text of every part of every chain, in the order of the appends; the id of a chain is its index. */
  readonly chains: string[][]
  readonly acknowledged: Set<number>
  readonly refused: Set<number>
  /** Greatest position that was released. */
  released: number
}

/** Appends chains for ever, in a way that depends on `random` only, until `disk` throws or `chainCount` is reached. */
function work(
  world: LaneWorld,
  history: History,
  random: () => number,
  chainCount: number,
  fillerBytesMax = 90,
): void {
  const { lane } = world
  const firstId = history.chains.length
  while (history.chains.length < firstId + chainCount) {
    const batch = 1 + Math.floor(random() * 3)
    for (let i = 0; i < batch; i++) {
      const id = history.chains.length
      const partCount = random() < 0.3 ? 2 + Math.floor(random() * 3) : 1
      const texts = Array.from({ length: partCount }, (_, index) => {
        const filler = '#'.repeat(Math.floor(random() * fillerBytesMax))
        return `${id}.${index}/${partCount}${filler}`
      })
      history.chains.push(texts)
      lane.append(
        id,
        texts.map((text) => part(text, [id + 1])),
      )
    }
    run(lane)
    note(world, history)
    if (random() < 0.2) {
      history.released = Math.max(history.released, lane.status().committed - 1200)
      // Positions are multiples of 8; what is released need not be one.
      lane.release(history.released as Parameters<typeof lane.release>[0])
    }
    lane.tick()
  }
}

function note(world: LaneWorld, history: History): void {
  for (const { id } of world.acks) history.acknowledged.add(id)
  for (const id of world.refusedIds) history.refused.add(id)
}

/** The promise: whole chains in order, all that were acknowledged from the first readable one on. */
function check(t: Test, disk: SimulatedDisk, world: LaneWorld, history: History, at: string): void {
  const { texts, gaps } = readAll(disk, world.lane, 300)
  const found: number[] = []
  for (let next = 0; next < texts.length; ) {
    const id = Number(texts[next]?.split('.')[0])
    const chain = history.chains[id] ?? []
    const there = texts.slice(next, next + chain.length)
    if (there.join() !== chain.join()) t.fail(`${at}: chain ${id} is there by half`)
    found.push(id)
    next += Math.max(1, chain.length)
  }
  const isAscending = found.every((id, i) => i === 0 || id > found[i - 1]!)
  const first = found[0] ?? 0
  const lost = [...history.acknowledged].filter((id) => id >= first && !found.includes(id))
  // Nothing that is not released may be deleted.
  const { oldest } = world.lane.status()
  if (oldest > history.released) t.fail(`${at}: deleted up to ${oldest}`)
  if (gaps.length > 0 || !isAscending || lost.length > 0)
    t.fail(`${at}: ${JSON.stringify({ gaps, lost, found })}`)
  t.equal(world.errors.length, 0, at)
}

function newHistory(): History {
  return { chains: [], acknowledged: new Set(), refused: new Set(), released: 0 }
}

/** Calls that open an empty lane: the first sync of its folder. Crashes of an opening are swept below. */
const openingCalls = 1

/** How many calls the undisturbed workload makes. */
function countCalls(seed: number, laneOptions = options, fillerBytesMax?: number): number {
  const disk = new SimulatedDisk()
  const world = openLane(disk, laneOptions)
  work(world, newHistory(), seededRandom(seed), 40, fillerBytesMax)
  return disk.callCount
}

const losesPower = (disk: SimulatedDisk, seed: number) => disk.cutPower(seededRandom(seed))
const isKilled = (disk: SimulatedDisk) => disk.killProcess()

for (const [name, crash, laneOptions, seeds, fillerBytesMax] of [
  ['loses power', losesPower, options, 3, 90],
  ['loses power, groups being longer than a sector,', losesPower, manySectors, 12, 1500],
  ['is killed', isKilled, options, 3, 90],
] as const) {
  t.test(`keeps everything acknowledged when it ${name} at any call`, async (t) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const calls = countCalls(seed, laneOptions, fillerBytesMax)
      for (let cut = openingCalls; cut < calls; cut++) {
        const disk = new SimulatedDisk()
        const history = newHistory()
        disk.onCall = (index) => {
          if (index >= cut) throw new PowerCut()
        }
        const world = openLane(disk, laneOptions)
        // A power cut is thrown through the lane, which takes it for a failed disk; its memory is gone anyway.
        try {
          work(world, history, seededRandom(seed), 40, fillerBytesMax)
        } catch (error) {
          if (!(error instanceof PowerCut)) throw error
        }
        note(world, history)
        crash(disk, seed * 10_000 + cut)
        const again = openLane(disk, laneOptions)
        check(t, disk, again, history, `seed ${seed} call ${cut}`)
        // And goes on from there, over a power cut after a clean end.
        work(again, history, seededRandom(cut), 5, fillerBytesMax)
        again.lane.close()
        disk.cutPower(seededRandom(cut))
        check(t, disk, openLane(disk, laneOptions), history, `seed ${seed} call ${cut}, went on`)
      }
    }
  })
}

t.test('keeps everything acknowledged when recovery itself is cut short, three times over', async (t) => {
  const history = newHistory()
  const origin = new SimulatedDisk()
  const first = openLane(origin, options)
  work(first, history, seededRandom(7), 12)
  origin.onCall = (_, name) => {
    if (name === 'fdatasync') throw new PowerCut()
  }
  first.lane.append(history.chains.length, [part('never acknowledged')])
  history.chains.push(['never acknowledged'])
  run(first.lane)
  for (let cut = 0; cut < 12; cut++) {
    const disk = origin.clone()
    for (let depth = 0; depth < 3; depth++) {
      if ((cut + depth) % 2 === 0) disk.cutPower(seededRandom(cut * 3 + depth))
      else disk.killProcess()
      const from = disk.callCount
      disk.onCall = (index) => {
        if (index >= from + cut) throw new PowerCut()
      }
      try {
        openLane(disk, options)
      } catch (error) {
        if (!(error instanceof PowerCut)) throw error
      }
    }
    disk.cutPower(seededRandom(cut))
    check(t, disk, openLane(disk, options), history, `cut ${cut}`)
  }
})

t.test('acknowledges nothing that is not there when any one call fails with EIO', async (t) => {
  const calls = countCalls(4)
  for (let failing = openingCalls; failing < calls; failing++) {
    const disk = new SimulatedDisk()
    const history = newHistory()
    disk.onCall = (index, name) => {
      if (index === failing) throw errno('EIO', name)
    }
    const world = openLane(disk, options)
    work(world, history, seededRandom(4), 40)
    t.equal(world.errors.length, 1, `call ${failing}`)
    disk.cutPower(seededRandom(failing))
    check(t, disk, openLane(disk, options), history, `call ${failing}`)
  }
})

t.test('loses nothing and goes on by itself when any one call finds no room', async (t) => {
  const calls = countCalls(5)
  let refusedCount = 0
  for (let failing = openingCalls; failing < calls; failing++) {
    const disk = new SimulatedDisk()
    const history = newHistory()
    disk.onCall = (index, name) => {
      if (index === failing && name !== 'fdatasync' && name !== 'fsync') throw errno('ENOSPC', name)
    }
    const world = openLane(disk, options)
    work(world, history, seededRandom(5), 40)
    t.same(world.errors, [], `call ${failing}`)
    refusedCount += world.refusedIds.length
    t.equal(history.acknowledged.size + history.refused.size, history.chains.length)
    world.lane.close()
    const { texts } = readAll(disk, openLane(disk, options).lane)
    t.notOk(texts.some((text) => history.refused.has(Number(text.split('.')[0]))))
    check(t, disk, openLane(disk, options), history, `call ${failing}`)
  }
  t.ok(refusedCount > 50)
})
