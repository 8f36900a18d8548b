import t from 'tap'
import { bucketLayoutNumber, memoryBytes } from '../src/flags/bucket-layout.ts'
import { compileModule, createMemory, openModule, pageBytes } from '../src/wasm-module.ts'

t.test('opens a module that was built with the layout that its user knows, and no other', async (t) => {
  t.equal(compileModule('none-of-that-name'), null)
  t.equal(openModule(null, createMemory(memoryBytes), bucketLayoutNumber), null)
  const module = compileModule('buckets')
  t.ok(openModule(module, createMemory(memoryBytes), bucketLayoutNumber))
  t.equal(openModule(module, createMemory(memoryBytes), bucketLayoutNumber + 1), null)
})

t.test('gives memory in whole pages, which grows as far as it was said to', async (t) => {
  const memory = createMemory(pageBytes + 1, 3 * pageBytes)
  t.equal(memory.buffer.byteLength, 2 * pageBytes)
  memory.grow(1)
  t.equal(memory.buffer.byteLength, 3 * pageBytes)
  t.throws(() => memory.grow(1), RangeError)
})
