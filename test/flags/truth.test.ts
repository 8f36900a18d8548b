import t from 'tap'
import { allOf, anyOf, opposite, Truth, truthOf } from '../../src/flags/truth.ts'

const { no, yes, unread } = Truth
const checks = (truths: readonly Truth[]) => truths.map((truth) => (): Truth => truth)

t.test('all must pass, and one that fails decides', async (t) => {
  const rows: [Truth[], Truth][] = [
    [[], yes],
    [[yes, yes], yes],
    [[yes, no], no],
    [[unread, no], no],
    [[yes, unread], unread],
    [[unread, yes], unread],
  ]
  for (const [truths, expected] of rows) t.equal(allOf(checks(truths))(null), expected, truths.join())
})

t.test('one must pass, and one that passes decides', async (t) => {
  const rows: [Truth[], Truth][] = [
    [[], no],
    [[no, yes], yes],
    [[unread, yes], yes],
    [[no, no], no],
    [[unread, no], unread],
  ]
  for (const [truths, expected] of rows) t.equal(anyOf(checks(truths))(null), expected, truths.join())
})

t.test('only yes and no have an opposite', async (t) => {
  t.same([no, yes, unread].map(opposite), [yes, no, unread])
  t.same([truthOf(true), truthOf(false)], [yes, no])
})
