import t from 'tap'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import { Bulk, bulkBytesMax, bulkRowsMax, eventTextBytes } from '../../src/events/bulk.ts'
import type { Position } from '../../src/journal/journal.ts'
import { makeBatch, plainRows, uuidOf } from './make-batch.ts'

const position = 4096 as Position // made up for these tests
const texts = (bulk: Bulk) => bulk.texts().map((text) => Buffer.from(text).toString().split('\x1e'))

t.test('holds one text a column, with the rows of several records', async (t) => {
  const first = openEventBatch(
    makeBatch({
      projectId: 3,
      receivedAtMs: 5,
      rows: [{}, { uuid: uuidOf(2), event: 'b', anonymous: true }, {}],
    }),
  )
  const second = openEventBatch(
    makeBatch({ historical: true, receivedAtMs: 6, rows: [{ elementsChain: 'a' }] }),
  )
  const bulk = new Bulk()
  bulk.append(first, position, 1, 3)
  bulk.append(second, 8192 as Position, 0, 1)

  t.equal(bulk.rows, 3)
  const id = (n: number) => uuidOf(n).replaceAll('-', '')
  t.strictSame(texts(bulk), [
    ['3', '3', '1'],
    [id(2), id(2), id(0)],
    ['b', 'viewed', 'viewed'],
    ['anna', 'anna', 'anna'],
    [id(0xb0), id(0xb0), id(0xb0)],
    ['1700000000000000', '1700000000000000', '1700000000000000'],
    ['5000', '5000', '6000'],
    ['{}', '{}', '{}'],
    ['', '', 'a'],
    ['1', '0', '2'],
    ['4096', '4096', '8192'],
    ['1', '2', '0'],
  ])
  bulk.clear()
  t.equal(bulk.rows, 0)
  bulk.append(second, position, 0, 1)
  t.strictSame(texts(bulk)[0], ['1'])
})

t.test('takes no more rows than a statement holds', async (t) => {
  const batch = openEventBatch(makeBatch({ rows: plainRows(0, bulkRowsMax + 10) }))
  const bulk = new Bulk()
  t.equal(bulk.fitting(batch, 0, 3), 3)
  t.equal(bulk.fitting(batch, 0, bulkRowsMax + 10), 5120)
  bulk.append(batch, position, 0, bulkRowsMax - 1)
  t.equal(bulk.fitting(batch, 0, 10), 1)
  bulk.append(batch, position, 0, 1)
  t.equal(bulk.fitting(batch, 0, 10), 0)
})

t.test('takes no more text than a statement holds, but always one event', async (t) => {
  const third = bulkBytesMax / 3
  const rows = Array.from({ length: 4 }, () => ({ elementsChain: 'x'.repeat(third) }))
  const batch = openEventBatch(makeBatch({ rows }))
  t.equal(eventTextBytes(batch, 0), Math.floor(third) + 'viewed'.length + 'anna'.length + '{}'.length)
  t.equal(eventTextBytes(batch, 3), eventTextBytes(batch, 0))
  const bulk = new Bulk()
  t.equal(bulk.fitting(batch, 0, 4), 2)
  const huge = openEventBatch(makeBatch({ rows: [{ event: 'x'.repeat(bulkBytesMax + 1) }] }))
  t.equal(bulk.fitting(huge, 0, 1), 1)
  bulk.append(batch, position, 0, 1)
  t.equal(bulk.fitting(huge, 0, 1), 0)
})
