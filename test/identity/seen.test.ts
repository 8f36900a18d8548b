import t from 'tap'
import { hasSeen, nothingSeen, seenBeforeSet, withSeen } from '../../src/identity/seen.ts'

t.test('remembers the last three digests, each once', async (t) => {
  let seen = nothingSeen
  for (const digest of [2, 4, 4, 2, 6]) seen = withSeen(seen, digest)
  t.same(seen, { last: 6, before: 4, earlier: 2 })
  t.same(withSeen(seen, 8), { last: 8, before: 6, earlier: 4 })
  t.same(
    [2, 4, 6, 8].map((digest) => hasSeen(seen, digest)),
    [true, true, true, false],
  )
})

t.test('what says only suppressed properties outlives a set, the rest does not', async (t) => {
  t.same(seenBeforeSet({ last: 2, before: 3, earlier: 5 }), { last: 3, before: 5, earlier: 0 })
  t.same(seenBeforeSet({ last: 2, before: 4, earlier: 0 }), nothingSeen)
})
