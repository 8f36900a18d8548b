import t from 'tap'
import { acquit, type Suspicion, suspect, tryRows } from '../../src/consumer/suspicion.ts'

/** Loads `rows` rows of which those in `bad` cannot be stored; returns how each try went. */
function load(rows: number, bad: readonly number[]): { loaded: number[]; setAside: number[]; tries: number } {
  const loaded: number[] = []
  const setAside: number[] = []
  let suspicion: Suspicion | null = null
  let tries = 0
  for (let next = 0; next < rows; ) {
    tries++
    const count: number = Math.min(suspicion === null ? rows : tryRows(suspicion), rows - next)
    if (suspicion?.condemned) {
      setAside.push(next++)
      suspicion = acquit(suspicion, 1)
    } else if (bad.some((row) => row >= next && row < next + count)) {
      suspicion = suspect(suspicion, 'realtime', count, new Error('cannot be stored'))
    } else {
      for (let i = 0; i < count; i++) loaded.push(next++)
      if (suspicion !== null) suspicion = acquit(suspicion, count)
    }
  }
  return { loaded, setAside, tries }
}

t.test('sets aside what cannot be stored and nothing else, in order', async (t) => {
  for (const bad of [[0], [99], [50], [0, 1, 2], [98, 99], [3, 40, 41, 77], []]) {
    const { loaded, setAside } = load(100, bad)
    t.strictSame(setAside, bad)
    t.strictSame(
      loaded,
      Array.from({ length: 100 }, (_, i) => i).filter((row) => !bad.includes(row)),
    )
  }
  t.strictSame(load(1, [0]).setAside, [0])
})

t.test('finds one row among a row group in few tries', async (t) => {
  t.ok(load(122_880, [100_000]).tries <= 40)
})

t.test('condemns only a row that failed alone after failing with others', async (t) => {
  const error = new Error('cannot be stored')
  t.strictSame(suspect(null, 'realtime', 1, error), { lane: 'realtime', rows: 1, condemned: null })
  const alone = suspect({ lane: 'realtime', rows: 1, condemned: null }, 'realtime', 1, error)
  t.strictSame(alone, { lane: 'realtime', rows: 1, condemned: { error } })
  t.equal(acquit({ lane: 'realtime', rows: 1, condemned: null }, 1), null)
})
