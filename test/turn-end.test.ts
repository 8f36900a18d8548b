import t from 'tap'
import { atTurnEnd } from '../src/turn-end.ts'

/** Resolves when an immediate that is set now comes. */
const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('calls in the order of asking, when the turn ends and once', async (t) => {
  const calls: number[] = []
  for (const number of [1, 2, 3]) atTurnEnd(() => calls.push(number))
  await Promise.resolve()
  t.same(calls, [])
  await immediate()
  t.same(calls, [1, 2, 3])
  atTurnEnd(() => calls.push(4))
  await immediate()
  t.same(calls, [1, 2, 3, 4])
})

t.test('what is asked for while a turn ends is done in the same go', async (t) => {
  const calls: string[] = []
  atTurnEnd(() => {
    calls.push('first')
    atTurnEnd(() => {
      calls.push('asked for by the first')
      atTurnEnd(() => calls.push('asked for by that'))
    })
  })
  atTurnEnd(() => calls.push('second'))
  setImmediate(() => calls.push('another immediate'))
  await immediate()
  t.same(calls, ['first', 'second', 'asked for by the first', 'asked for by that', 'another immediate'])
})
