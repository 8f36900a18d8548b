import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import t from 'tap'
import { decodeCapture } from '../../src/capture/decode.ts'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import { textValue } from '../../src/capture/text-column.ts'
import { isDuplicate, Loader } from '../../src/events/load.ts'
import { applySchema } from '../../src/events/schema.ts'
import type { JournalRecord, Position } from '../../src/journal/journal.ts'
import { task } from '../capture/tasks.ts'
import { makeBatch } from './make-batch.ts'

/** Texts around the size of a slot, of letters of one to four bytes, that come again within a batch. */
const someText = fc
  .tuple(fc.constantFrom('a', 'ß', '€', '😀', '"'), fc.constantFrom(1, 3, 4, 6, 12, 13, 70))
  .map(([letter, count]) => letter.repeat(count))
const someEvent = fc
  .record({
    event: someText,
    id: someText,
    isOwn: fc.boolean(),
    properties: fc.option(fc.record({ $set: fc.record({ a: someText }), $elements_chain: someText }), {
      freq: 4,
    }),
  })
  .map(eventOf)
const someEvents = fc.array(someEvent, { minLength: 1, maxLength: 3 })
/** Events with nothing of their own between others, whose texts lie the further apart. */
const manyEvents = fc
  .tuple(someText, fc.constantFrom(0, 0, 300))
  .map(([id, count]) => Array(count).fill(eventOf({ event: 'e', id, isOwn: false, properties: null })))
const someBatch = fc.record({
  events: fc.tuple(someEvents, manyEvents, someEvents).map((lists) => lists.flat()),
  duplicates: fc.constantFrom(0, 0, 0b1, 0b1001_0010),
  rowsMax: fc.constantFrom(7, 100, 5000, 5000),
  after: fc.constantFrom('nothing', 'flush', 'fail', 'fail at once'),
})

interface SomeEvent {
  event: string
  id: string
  /** The id stands in the properties alone. */
  isOwn: boolean
  properties: object | null
}

function eventOf({ event, id, isOwn, properties }: SomeEvent) {
  return isOwn
    ? { event, properties: { distinct_id: id, ...properties } }
    : { event, distinct_id: id, properties: properties ?? {} }
}

function recordOf(events: readonly object[], position: Position, duplicates: number): JournalRecord {
  const outcome = decodeCapture(task({ api_key: 'phc_private', batch: events }))
  const part = outcome.kind === 'captured' ? outcome.parts[0] : undefined
  if (part === undefined) throw new Error(JSON.stringify(outcome))
  const { eventCount, payload } = part
  const bits = new Uint8Array(Math.ceil(eventCount / 8)).fill(duplicates)
  return { position, end: position, kind: 'events', eventCount, duplicates: bits, payload }
}

/** The rows that a record should become. */
function rowsOf(record: JournalRecord): string[] {
  const { text } = openEventBatch(record.payload)
  const rows: string[] = []
  for (let index = 0; index < record.eventCount; index++) {
    if (isDuplicate(record, index)) continue
    const columns = [text.event, text.distinctId, text.properties, text.elementsChain]
    rows.push(JSON.stringify([index, ...columns.map((column) => textValue(column, index))]))
  }
  return rows
}

t.test('holds no row of other bytes than its own, whatever comes between', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await applySchema(connection, 0)
  const loader = await Loader.open(connection)
  t.teardown(() => {
    loader.close()
    connection.closeSync()
    instance.closeSync()
  })
  const notText = { rows: [{}, { rawProperties: Buffer.from(`{"x":"${'-'.repeat(20)}\xff"}`, 'latin1') }] }
  const plain = recordOf([{ event: 'e', distinct_id: 'i' }], 0 as Position, 0) // made up
  const bad = { ...plain, payload: makeBatch(notText), eventCount: 2 }
  // Records are lent: the next is read over the one before.
  const lent = new Uint8Array(1024 * 1024)
  const load = async (record: JournalRecord, rowsMax: number) => {
    lent.set(record.payload)
    const payload = lent.subarray(0, record.payload.length)
    const batch = openEventBatch(payload)
    for (let at = 0; at < record.eventCount; )
      at = (await loader.load('realtime', { ...record, payload }, batch, at, rowsMax)).next
    lent.fill(0xee)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(someBatch, { minLength: 1, maxLength: 6 }), async (batches) => {
      // Where a property failed, smaller ones are tried.
      loader.discard()
      await connection.run('rollback').catch(() => null)
      await connection.run('truncate event')
      await connection.run('begin')
      let expected: string[] = []
      let isRefused = true
      for (const [index, { events, duplicates, rowsMax, after }] of batches.entries()) {
        const record = recordOf(events, index as Position, duplicates) // made up
        await load(record, rowsMax)
        expected.push(...rowsOf(record))
        if (after === 'flush') await loader.flush()
        if (!after.startsWith('fail')) continue
        if (after === 'fail')
          isRefused &&= await load(bad, 5000).then(
            () => false,
            () => true,
          )
        loader.discard()
        await connection.run('rollback')
        await connection.run('begin')
        expected = []
      }
      await loader.flush()
      await connection.run('commit')
      const read = await connection.runAndReadAll(
        'select "index", event, distinct_id, properties::varchar, elements_chain from event order by rowid',
      )
      const found = read.getRowsJson().map((row) => JSON.stringify(row))
      return (
        isRefused && found.length === expected.length && found.every((row, index) => row === expected[index])
      )
    }),
    { numRuns: 40 },
  )
})
