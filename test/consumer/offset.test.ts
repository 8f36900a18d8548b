import t from 'tap'
import { forLanes, originOffset, positionsOf, sameOffset } from '../../src/consumer/offset.ts'
import type { Position } from '../../src/journal/journal.ts'

t.test('two offsets are the same when position and index are', async (t) => {
  const position = 64 as Position
  t.ok(sameOffset({ position, index: 3 }, { position, index: 3 }))
  t.notOk(sameOffset({ position, index: 3 }, { position, index: 4 }))
  t.notOk(sameOffset({ position, index: 3 }, originOffset))
})

t.test('a store that is inside a record is still at that record', async (t) => {
  const offsets = forLanes((lane) => ({ position: (lane === 'realtime' ? 64 : 128) as Position, index: 7 }))
  t.same(positionsOf(offsets), { realtime: 64, historical: 128 })
})
