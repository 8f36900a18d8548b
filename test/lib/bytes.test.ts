import t from 'tap'
import { alignTo8, copyBytes, formatBytes, ownsItsBuffer } from '../../src/lib/bytes.ts'

t.test('rounds a size up to the next multiple of 8', async (t) => {
  t.same([0, 1, 7, 8, 9].map(alignTo8), [0, 8, 8, 8, 16])
})

t.test('tells a view on all of its memory from one beside others', async (t) => {
  const bytes = new Uint8Array(16)
  const views = [bytes, bytes.subarray(0), new Uint32Array(4), bytes.subarray(1), bytes.subarray(0, 15)]
  t.same(views.map(ownsItsBuffer), [true, true, true, false, false])
})

t.test('copies a stretch, short or long, and nothing beside it', async (t) => {
  const source = Uint8Array.from({ length: 200 }, (_, index) => index + 1)
  for (const size of [0, 1, 64, 65, 150]) {
    const target = new Uint8Array(200)
    copyBytes(source, 20, 20 + size, target, 10)
    t.same([...target.subarray(10, 10 + size)], [...source.subarray(20, 20 + size)])
    t.ok(
      target.subarray(0, 10).every((byte) => byte === 0) &&
        target.subarray(10 + size).every((byte) => byte === 0),
    )
  }
})

t.test('prints sizes the way error messages show them', async (t) => {
  const shown = [12, 1536, 20 * 1024 * 1024].map(formatBytes)
  t.same(shown, ['12 bytes', '1.5 KiB', '20 MiB'])
})
