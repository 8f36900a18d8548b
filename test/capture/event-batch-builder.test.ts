import t from 'tap'
import type { EncodedPart } from '../../src/capture/capture-task.ts'
import { EventFlag, openEventBatch } from '../../src/capture/event-batch.ts'
import { EventBatchBuilder } from '../../src/capture/event-batch-builder.ts'
import { textValue } from '../../src/capture/text-column.ts'
import { microsFromMs } from '../../src/lib/clock.ts'
import { captured, rowsOf, task } from './tasks.ts'

const facts = { projectId: 1, receivedAtMs: 5, historical: true, recordBytesMax: 300 }

function append(builder: EventBatchBuilder, properties: string): void {
  const { properties: target } = builder.text
  const bytes = Buffer.from(properties)
  target.reserve(bytes.length)
  target.append(bytes, 0, bytes.length)
}

/** Adds an event of 69 bytes and its separators beside its properties. */
function add(builder: EventBatchBuilder, properties: string): void {
  builder.beginEvent()
  append(builder, properties)
  builder.uuids[builder.count * 16] = properties.length
  builder.dedupKeys[builder.count * 2] = properties.length
  builder.digests[builder.count] = properties.length + 0.5
  builder.endEvent(microsFromMs(properties.length), properties.length & 1)
}

function closed(builder: EventBatchBuilder): EncodedPart[] {
  builder.endRequest()
  return builder.close()
}

function read(part: EncodedPart) {
  const batch = openEventBatch(part.payload)
  return Array.from({ length: part.eventCount }, (_, index) => [
    textValue(batch.text.properties, index),
    batch.uuids[index * 16],
    batch.timestamps[index],
    batch.flags[index],
    part.dedupKeys[index * 2],
    batch.digests[index],
  ])
}

t.test('names the identity events of each part, the first 1,500 of them', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open({ ...facts, recordBytesMax: 1_000_000 })
  const addFlagged = (bornId: number, flags: number): void => {
    builder.beginEvent()
    builder.bornIds.fill(bornId, builder.count * 16, builder.count * 16 + 16)
    builder.endEvent(microsFromMs(0), flags)
  }
  addFlagged(1, 0)
  addFlagged(2, EventFlag.identity)
  addFlagged(3, EventFlag.anonymous | EventFlag.groups)
  addFlagged(4, EventFlag.identity | EventFlag.clientUuid)
  t.same([...closed(builder)[0]!.identityBornIds], [...Array(16).fill(2), ...Array(16).fill(4)])
  builder.open({ ...facts, recordBytesMax: 1_000_000 })
  for (let index = 0; index < 1501; index++) addFlagged(5, EventFlag.identity)
  t.equal(closed(builder)[0]!.identityBornIds.length, 24_000)
})

t.test('cuts a part before it outgrows a record', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open(facts)
  // Each of these takes 74 bytes of fixed columns and separators: 3 make 300 with 26 bytes of text each.
  for (const letter of ['a', 'b', 'c', 'd']) add(builder, letter.repeat(26))
  const parts = closed(builder)
  t.same(
    parts.map((part) => part.eventCount),
    [3, 1],
  )
  t.same(parts.flatMap(read), [
    ['a'.repeat(26), 26, 26000, 0, 26, 26.5],
    ['b'.repeat(26), 26, 26000, 0, 26, 26.5],
    ['c'.repeat(26), 26, 26000, 0, 26, 26.5],
    ['d'.repeat(26), 26, 26000, 0, 26, 26.5],
  ])
  builder.open(facts)
  for (const letter of ['a', 'b', 'c']) add(builder, letter.repeat(27))
  t.same(
    closed(builder).map((part) => part.eventCount),
    [2, 1],
  )
})

t.test('gives an event that is larger than a record a part of its own', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open(facts)
  for (const size of [10, 1000, 20, 30]) add(builder, 'x'.repeat(size))
  const parts = closed(builder)
  t.same(
    parts.map((part) => part.eventCount),
    [1, 1, 2],
  )
  t.same(
    parts.flatMap(read).map(([, uuid]) => uuid),
    [10, 1000 & 255, 20, 30],
  )
})

t.test('forgets an event that was begun and not ended, and an earlier request', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open(facts)
  add(builder, 'old')
  builder.open(facts)
  add(builder, 'one')
  builder.beginEvent()
  append(builder, 'dropped')
  add(builder, 'three')
  const [part] = closed(builder)
  t.same(part === undefined ? [] : read(part), [
    ['one', 3, 3000, 1, 3, 3.5],
    ['three', 5, 5000, 1, 5, 5.5],
  ])
  builder.open(facts)
  t.same(closed(builder), [])
})

t.test('keeps the events of requests that ended, one behind the other, and no others', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open({ ...facts, recordBytesMax: 1e6 })
  const texts = (parts: EncodedPart[]) => parts.map((part) => read(part).map(([text]) => text))
  builder.beginRequest()
  add(builder, 'one')
  add(builder, 'two')
  builder.endRequest()
  builder.beginRequest()
  for (let index = 0; index < 600; index++) add(builder, 'of a request that failed')
  builder.beginEvent()
  append(builder, 'begun')
  builder.beginRequest()
  builder.endRequest()
  builder.beginRequest()
  add(builder, 'three')
  builder.endRequest()
  builder.beginRequest()
  add(builder, 'of one that failed last')
  t.same(texts(builder.close()), [['one', 'two', 'three']])
  builder.open(facts)
  builder.beginRequest()
  for (let index = 0; index < 3; index++) add(builder, 'x'.repeat(200))
  t.same(builder.close(), [], 'not the parts of one that was cut, either')
})

t.test('cuts the first request of a batch alone', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open(facts)
  for (const letters of ['ab', 'cd', 'ef']) {
    builder.beginRequest()
    for (const letter of letters) add(builder, letter.repeat(200))
    builder.endRequest()
  }
  t.same(
    builder.close().map((part) => read(part).map(([text]) => String(text)[0])),
    [['a'], ['b', 'c', 'd', 'e', 'f']],
  )
})

t.test('writes the header of every part', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open(facts)
  add(builder, 'one')
  const [part] = closed(builder)
  t.same(part && openEventBatch(part.payload).header, {
    version: 3,
    projectId: 1,
    receivedAtMs: 5,
    historical: true,
    count: 1,
  })
})

t.test('grows by rows and by bytes', async (t) => {
  const builder = new EventBatchBuilder()
  builder.open({ ...facts, recordBytesMax: 1e9 })
  for (let index = 0; index < 5000; index++) add(builder, `${index}`.padStart(100, '.'))
  const [part] = closed(builder)
  const all = part === undefined ? [] : read(part)
  t.equal(all.length, 5000)
  t.equal(all[4999]?.[0], '4999'.padStart(100, '.'))
})

t.test('decodes a large body into parts that fit, in order', async (t) => {
  const limits = { ...task('').limits, recordBytesMax: 4096 }
  const batch = Array.from({ length: 100 }, (_, index) => ({
    event: `e${index}`,
    distinct_id: 'u',
    properties: { text: 'x'.repeat(index * 20) },
  }))
  const outcome = captured({ api_key: 'phc_test', batch }, { limits })
  t.ok(outcome.parts.length > 20)
  t.ok(outcome.parts.every((part) => part.eventCount === 1 || part.payload.length < 4096 + 200))
  t.same(
    rowsOf(outcome).map((row) => row.event),
    batch.map((event) => event.event),
  )
})
