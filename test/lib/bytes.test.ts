import t from 'tap'
import { alignTo8, formatBytes } from '../../src/lib/bytes.ts'

t.test('rounds a size up to the next multiple of 8', async (t) => {
  t.same([0, 1, 7, 8, 9].map(alignTo8), [0, 8, 8, 8, 16])
})

t.test('prints sizes the way error messages show them', async (t) => {
  const shown = [12, 1536, 20 * 1024 * 1024].map(formatBytes)
  t.same(shown, ['12 bytes', '1.5 KiB', '20 MiB'])
})
