// Random histories of a lane against a model of a few lines: what is read back, and what was flagged.

import fc from 'fast-check'
import t from 'tap'
import { flaggedIn, openLane, part, readAll, run, textOf } from './lane-world.ts'
import { SimulatedDisk, seededRandom } from './simulated-disk.ts'

const append = fc.record({
  kind: fc.constant('append' as const),
  parts: fc.array(
    fc.record({ size: fc.integer({ min: 0, max: 300 }), keys: fc.array(fc.nat(40), { maxLength: 6 }) }),
    { minLength: 1, maxLength: 3 },
  ),
})
const action = fc.oneof(
  { weight: 10, arbitrary: append },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('close' as const, 'kill' as const, 'power' as const) }),
  },
)

t.test('reads back every history, flagged as a plain list of keys would, over restarts', async (t) => {
  const windowEvents = 15
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), fc.nat(), (actions, seed) => {
      const disk = new SimulatedDisk()
      const options = { segmentBytes: 500, syncBytesMax: 200, dedupWindowEvents: windowEvents }
      let { lane } = openLane(disk, options)
      const expected: [string, number[]][] = []
      let window: number[] = []
      for (const [index, one] of actions.entries()) {
        if (one.kind === 'append') {
          const parts = one.parts.map(({ size, keys }, i) => part(`${index}.${i}${' '.repeat(size)}`, keys))
          for (const [i, { keys }] of one.parts.entries()) {
            const flagged: number[] = []
            for (const [event, key] of keys.entries()) {
              if (key === 0) continue
              if (window.includes(key)) flagged.push(event)
              else window = [...window, key].slice(-windowEvents)
            }
            expected.push([`${index}.${i}`, flagged])
          }
          lane.append(index, parts)
          run(lane)
          continue
        }
        if (one.kind === 'close') lane.close()
        else if (one.kind === 'kill') disk.killProcess()
        else disk.cutPower(seededRandom(seed + index))
        lane = openLane(disk, options).lane
      }
      const { records, gaps } = readAll(disk, lane, 100 + (seed % 500))
      const found = records.map((record) => [textOf(record).trim(), flaggedIn(record)])
      return gaps.length === 0 && JSON.stringify(found) === JSON.stringify(expected)
    }),
    { numRuns: 300 },
  )
  t.pass()
})
