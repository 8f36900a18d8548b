import t from 'tap'
import { releasedBytesMin, releaseMemory } from '../src/release-memory.ts'

t.test('large memory is gone at once, and every view on it empty', async (t) => {
  const view = new Uint8Array(releasedBytesMin).fill(1)
  const before = process.memoryUsage().arrayBuffers
  releaseMemory(view.buffer)
  t.ok(before - process.memoryUsage().arrayBuffers >= releasedBytesMin)
  t.equal(view.length, 0)
})

t.test('smaller memory is left alone', async (t) => {
  const view = new Uint8Array(releasedBytesMin - 1).fill(1)
  releaseMemory(view.buffer)
  t.equal(view.length, releasedBytesMin - 1)
  t.equal(view[0], 1)
})
