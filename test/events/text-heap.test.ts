import { DuckDBDataChunk, VARCHAR } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import t from 'tap'
import { addressSlots, type Copied, writeSlots } from '../../src/events/row-values.ts'
import { TextHeap } from '../../src/events/text-heap.ts'

/** A heap that copies what is UTF-8. */
function open() {
  const heap = new TextHeap()
  const copy = (bytes: Uint8Array, start: number, end: number): Copied => {
    const copied = heap.copy(bytes, start, end)
    if (copied === null) throw new Error('not UTF-8')
    return copied
  }
  return { heap, copy }
}

/** Texts of one size, as DuckDB reads them where `copied` says that they are. */
function textsIn(bytes: Buffer, size: number, copied: Copied, addresses: readonly number[]) {
  const spans = new Uint32Array(((copied.end - copied.start) / size) * 2)
  for (let at = 0; at < spans.length; at++) spans[at] = copied.start + Math.ceil(at / 2) * size
  const count = spans.length / 2
  const words = new Uint32Array(count * 4)
  t.equal(writeSlots(words, 0, { bytes, spans, first: 0 }, 0, count, copied, copied), true)
  addressSlots(words, count, addresses)
  const chunk = DuckDBDataChunk.create([VARCHAR], count)
  duckdb.copy_data_to_vector(duckdb.data_chunk_get_vector(chunk.chunk, 0), 0, words.buffer, 0, count * 16)
  return chunk.getColumnValues(0)
}

t.test('tells where DuckDB finds its copies, until it is cleared', async (t) => {
  const { heap, copy } = open()
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, n) => `text number ${n + 1000}`).join(''))
  const first = copy(bytes, 32, 64)
  const second = copy(bytes, 0, bytes.length)
  const source = Buffer.from(bytes)
  bytes.fill(0x78)
  const addresses = heap.addresses()
  t.strictSame([first.start, first.end], [32, 64])
  t.strictSame(textsIn(source, 16, first, addresses), ['text number 1002', 'text number 1003'])
  t.strictSame(textsIn(source, 32, second, addresses).slice(-1), ['text number 1998text number 1999'])
  heap.clear()
  const third = copy(source, 0, 16)
  t.strictSame(textsIn(source, 16, third, heap.addresses()), ['text number 1000'])
})

t.test('tells of more copies than a vector has slots', async (t) => {
  const { heap, copy } = open()
  const source = Buffer.from(Array.from({ length: 5000 }, (_, n) => `text number ${n + 1000}`).join(''))
  const copies = Array.from({ length: 5000 }, (_, n) => copy(source, n * 16, n * 16 + 16))
  const addresses = heap.addresses()
  t.equal(addresses.length, 5000)
  for (const n of [0, 2047, 2048, 4095, 4096, 4999])
    t.strictSame(textsIn(source, 16, copies[n]!, addresses), [`text number ${n + 1000}`])
})

t.test('takes no bytes that are not UTF-8', async (t) => {
  const heap = new TextHeap()
  const bytes = Buffer.from([...Array(20).fill(0x20), 0xed, 0xa0, 0x80])
  t.equal(heap.copy(bytes, 0, 23), null)
  t.match(heap.copy(bytes, 0, 20), { end: 20 })
})
