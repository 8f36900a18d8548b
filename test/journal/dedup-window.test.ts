import fc from 'fast-check'
import t from 'tap'
import { DedupWindow } from '../../src/journal/dedup-window.ts'

/** The window as plainly as it can be written. */
class PlainWindow {
  readonly keysMax: number
  keys: string[] = []
  committed: string[] = []

  constructor(keysMax: number) {
    this.keysMax = keysMax
  }

  seenOrAdd(low: number, high: number): boolean {
    const key = `${low}:${high}`
    if (this.keys.includes(key)) return true
    this.keys = [...this.keys, key].slice(-this.keysMax)
    return false
  }

  commit(): void {
    this.committed = this.keys
  }

  rollback(): void {
    this.keys = this.committed
  }
}

/** Words that collide in the table often. */
const word = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(0x400, 0x800, 0xffffffff, 0x80000000))
const action = fc.oneof(
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('add' as const), low: word, high: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('touch' as const), count: fc.nat(70) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'rollback' as const) }) },
)

t.test('answers as a plain list does, through any history of adds, commits and rollbacks', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(action, { maxLength: 300 }), (keysMax, actions) => {
      const window = new DedupWindow(keysMax)
      const plain = new PlainWindow(keysMax)
      for (const one of actions) {
        if (one.kind === 'add') {
          if (window.seenOrAdd(one.low, one.high) !== plain.seenOrAdd(one.low, one.high)) return false
        } else if (one.kind === 'touch') {
          window.touch(new Uint32Array(2 * one.count + 2).fill(one.count), 1, one.count + 1)
        } else if (one.kind === 'commit') {
          window.commit(window.added)
          plain.commit()
        } else {
          window.rollback()
          plain.rollback()
        }
      }
      const keys = window.newest(window.size)
      return (
        plain.keys.join() === Array.from(plain.keys, (_, i) => `${keys[2 * i]}:${keys[2 * i + 1]}`).join()
      )
    }),
    { numRuns: 500 },
  )
  t.pass()
})

t.test('takes back only what came after the committed key', async (t) => {
  const window = new DedupWindow(3)
  for (const key of [1, 2, 3, 4]) window.seenOrAdd(key, 0)
  const { added } = window
  for (const key of [5, 6]) window.seenOrAdd(key, 0)
  window.commit(added)
  window.rollback()
  t.same([...window.newest(3)], [2, 0, 3, 0, 4, 0])
  t.equal(window.seenOrAdd(5, 0), false)
})

t.test('keeps exactly as many keys as it is told', async (t) => {
  const window = new DedupWindow(5000)
  for (let key = 1; key <= 20_000; key++) window.seenOrAdd(key, key * 7)
  t.equal(window.size, 5000)
  const probe = (key: number): boolean => window.seenOrAdd(key, key * 7)
  t.same([probe(15_001), probe(20_000)], [true, true])
  t.equal(probe(15_000), false)
  t.equal(probe(15_001), false)
})

t.test('remembers nothing when the window is empty', async (t) => {
  const window = new DedupWindow(0)
  window.touch(Uint32Array.of(1, 1), 0, 1)
  t.same([window.seenOrAdd(1, 1), window.seenOrAdd(1, 1)], [false, false])
})
