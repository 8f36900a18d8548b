import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import t from 'tap'
import type { EncodedPart } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { type EventBatch, openEventBatch } from '../../src/capture/event-batch.ts'
import { Loader } from '../../src/events/load.ts'
import { chunkRowsMax, chunkTextBytesMax, eventTextBytes, RowChunk } from '../../src/events/row-chunk.ts'
import { RowInsert } from '../../src/events/row-insert.ts'
import { applySchema } from '../../src/events/schema.ts'
import type { JournalRecord, Position } from '../../src/journal/journal.ts'
import { bodyText } from '../capture/event-text.ts'
import { task } from '../capture/tasks.ts'
import { type BatchInput, makeBatch, plainRows, uuidOf } from './make-batch.ts'

const position = 4096 as Position // made up for these tests

/** A store in memory; rows as they lie in the table. */
async function store() {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await applySchema(connection, 0)
  await connection.run("set TimeZone = 'UTC'")
  t.teardown(() => {
    connection.closeSync()
    instance.closeSync()
  })
  const rows = async () => {
    const read =
      await connection.runAndReadAll(`select * replace (uuid::varchar as uuid, born_id::varchar as born_id,
      epoch_us(timestamp) as timestamp, epoch_us(received_at) as received_at, properties::varchar as properties)
      from event order by rowid`)
    return read.getRowsJson()
  }
  return { connection, rows }
}

/** The same with a loader. */
async function world() {
  const opened = await store()
  const loader = await Loader.open(opened.connection)
  t.teardown(() => loader.close())
  return { ...opened, loader }
}

function recordOf(input: BatchInput, at = position): { record: JournalRecord; batch: EventBatch } {
  const payload = makeBatch(input)
  const end = (at + 1) as Position // no journal has it
  const eventCount = input.rows.length
  return {
    record: { position: at, end, kind: 'events', eventCount, duplicates: null, payload },
    batch: openEventBatch(payload),
  }
}

t.test('brings every column of several records into the table', async (t) => {
  const { connection, rows } = await store()
  const insert = await RowInsert.open(connection)
  const first = recordOf({
    projectId: 3,
    receivedAtMs: 5,
    rows: [{}, { uuid: uuidOf(2), event: 'b', anonymous: true }, { properties: '{"é":"\\u0000"}' }],
  })
  const second = recordOf({ historical: true, receivedAtMs: 6, rows: [{ elementsChain: 'a'.repeat(13) }] })
  const chunk = new RowChunk()
  chunk.append(first.batch, position, 0, 1, 3)
  chunk.append(second.batch, 8192 as Position, 1, 0, 1)
  t.equal(chunk.rows, 3)
  await insert.run(chunk)
  chunk.clear()
  t.equal(chunk.rows, 0)
  chunk.append(second.batch, position, 0, 0, 1)
  await insert.run(chunk)
  insert.close()

  const common = ['viewed', 'anna', uuidOf(0xb0), '1700000000000000']
  t.strictSame(await rows(), [
    [3, uuidOf(2), 'b', ...common.slice(1), '5000', '{}', '', false, true, 0, '4096', 1],
    [3, uuidOf(2), ...common, '5000', '{"é":"\\u0000"}', '', false, false, 0, '4096', 2],
    [1, uuidOf(0), ...common, '6000', '{}', 'aaaaaaaaaaaaa', true, false, 1, '8192', 0],
    [1, uuidOf(0), ...common, '6000', '{}', 'aaaaaaaaaaaaa', true, false, 0, '4096', 0],
  ])
})

t.test('takes no more rows than a chunk holds', async (t) => {
  const { batch } = recordOf({ rows: plainRows(0, chunkRowsMax + 10) })
  const chunk = new RowChunk()
  t.equal(chunk.fitting(batch, 0, 3), 3)
  t.equal(chunk.fitting(batch, 0, chunkRowsMax + 10), 2048)
  chunk.append(batch, position, 0, 0, chunkRowsMax - 1)
  t.equal(chunk.fitting(batch, 0, 10), 1)
  chunk.append(batch, position, 0, 0, 1)
  t.equal(chunk.fitting(batch, 0, 10), 0)
  chunk.clear()
  t.equal(chunk.fitting(batch, 0, 10), 10)
})

t.test('takes no more text than a chunk holds, but always one event', async (t) => {
  const third = chunkTextBytesMax / 3
  const { batch } = recordOf({
    rows: Array.from({ length: 4 }, () => ({ elementsChain: 'x'.repeat(third) })),
  })
  t.equal(eventTextBytes(batch, 0), Math.floor(third) + 'viewed'.length + 'anna'.length + '{}'.length)
  t.equal(eventTextBytes(batch, 3), eventTextBytes(batch, 0))
  const chunk = new RowChunk()
  t.equal(chunk.fitting(batch, 0, 4), 2)
  const huge = recordOf({ rows: [{ event: 'x'.repeat(chunkTextBytesMax + 1) }] })
  t.equal(chunk.fitting(huge.batch, 0, 1), 1)
  chunk.append(batch, position, 0, 0, 1)
  t.equal(chunk.fitting(huge.batch, 0, 1), 0)
})

/** Letters of one to four bytes, and what was once hard to carry. */
const letters = fc.constantFrom('a', 'ß', '€', '😀', '\x1e', '\0', '"', '\\', '\n', ' ')
const text = fc.oneof(
  fc.array(letters, { maxLength: 14 }).map((parts) => parts.join('')),
  fc.array(letters, { minLength: 200, maxLength: 600 }).map((parts) => parts.join('')),
)
const row = fc.record({
  uuid: fc.uuid(),
  bornId: fc.uuid(),
  event: text,
  distinctId: text,
  elementsChain: text,
  properties: text.map((value) => JSON.stringify({ value })),
  timestampMicros: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }).map((ms) => ms * 1000),
  anonymous: fc.boolean(),
})
const input = fc.record({
  projectId: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  receivedAtMs: fc.integer({ min: 0, max: 2 ** 45 }),
  historical: fc.boolean(),
  rows: fc.array(row, { minLength: 1, maxLength: 20 }),
})

t.test('holds the same rows as are stored one by one', async () => {
  const { connection, loader, rows } = await world()
  await fc.assert(
    fc.asyncProperty(fc.array(input, { minLength: 1, maxLength: 4 }), async (inputs) => {
      const records = inputs.map((one, index) => recordOf(one, (index * 2 ** 40) as Position))
      const load = async (rowsMax: number) => {
        await connection.run('truncate event')
        for (const { record, batch } of records)
          for (let at = 0; at < record.eventCount; )
            at = (await loader.load('historical', record, batch, at, rowsMax)).next
        await loader.flush()
        return JSON.stringify(await rows())
      }
      // A single row goes alone, as a statement with its values.
      return (await load(1000)) === (await load(1))
    }),
    { numRuns: 40 },
  )
})

t.test('copies texts that lie far apart in a batch', async (t) => {
  const { connection, loader, rows } = await world()
  const one = (index: number, isShort: boolean) => ({
    uuid: uuidOf(index),
    event: isShort ? 'short' : `a name that is long ${index}`,
    distinctId: isShort ? `an id that is long as well ${index}` : 'anna',
    elementsChain: index % 50 === 0 ? `an element ${index}` : '',
  })
  const inputs = Array.from({ length: 300 }, (_, index) => one(index, index > 0 && index < 299))
  const { record, batch } = recordOf({ rows: inputs })
  const duplicates = new Uint8Array(38)
  for (let index = 0; index < 300; index += 3) duplicates[index >> 3]! |= 1 << (index & 7)
  await connection.run('begin')
  await loader.load('realtime', { ...record, duplicates }, batch, 0, 1000)
  await loader.flush()
  await connection.run('commit')
  t.strictSame(
    (await rows()).map(([, uuid, event, distinctId, , , , , elementsChain]) => ({
      uuid,
      event,
      distinctId,
      elementsChain,
    })),
    inputs.filter((_, index) => index % 3 !== 0),
  )
})

t.test('copies ids on both sides of what is no text', async (t) => {
  const { loader, rows } = await world()
  const shared = { event: 'e', distinct_id: 'one id for many '.repeat(8), properties: {} }
  // Its id stands in its properties, and its person column has numbers of two bytes.
  const own = {
    event: 'e',
    properties: { distinct_id: 'an id of its own', long: '-'.repeat(200), $set: { a: 1 } },
  }
  const body = { api_key: 'phc_private', batch: [own, ...Array.from({ length: 400 }, () => shared), own] }
  const outcome = decodeCapture(task(body))
  if (outcome.kind !== 'captured') throw new Error(outcome.kind)
  const [{ payload, eventCount }] = outcome.parts as [EncodedPart]
  const record = { position, end: position, kind: 'events', eventCount, duplicates: null, payload } as const
  await loader.load('realtime', record, openEventBatch(payload), 0, 1000)
  await loader.flush()
  t.strictSame(
    (await rows()).map((row) => [row[3], row[7]]),
    body.batch.map(({ properties }) => [
      'distinct_id' in properties ? properties.distinct_id : shared.distinct_id,
      JSON.stringify(properties),
    ]),
  )
})

t.test('does not store what is not UTF-8, and goes on', async (t) => {
  const { connection, loader, rows } = await world()
  const refused: [string, BatchInput['rows'][number]][] = [
    [
      'a long text with half a character',
      { rawProperties: Buffer.from([0x7b, ...Array(20).fill(0x20), 0xc3]) },
    ],
    ['a surrogate in UTF-8', { rawProperties: Buffer.from([...Array(20).fill(0x20), 0xed, 0xa0, 0x80]) }],
    ['a short text that is not UTF-8', { rawProperties: Buffer.from([0x7b, 0xff, 0x7d]) }],
  ]
  for (const [name, bad] of refused) {
    // DuckDB looks at no text in its slot behind one that is more than ASCII.
    const { record, batch } = recordOf({ rows: [{ properties: '{"é":1}' }, bad, {}] })
    await connection.run('begin')
    await t.rejects(
      loader.load('realtime', record, batch, 0, 1000).then(() => loader.flush()),
      { message: /^Invalid Input Error: / },
      name,
    )
    loader.discard()
    await connection.run('rollback')
  }
  const { record, batch } = recordOf({ rows: [{}] })
  await connection.run('begin')
  await loader.load('realtime', record, batch, 0, 1000)
  await loader.flush()
  await connection.run('commit')
  t.equal((await rows()).length, 1)
})

t.test('holds nothing that DuckDB cannot read as JSON when capture has let it in', async (t) => {
  const { connection, loader } = await world()
  const piece = fc.constantFrom(...'{}[]",:\\ 01eE+-.', '\u0001', '\\u', '\\ud800', 'é', '1e999', '""')
  const damages = fc.array(fc.tuple(fc.nat(), fc.nat(2), piece), { maxLength: 2 })
  let rows = 0
  for (const [body, damage] of fc.sample(fc.tuple(bodyText, damages), { numRuns: 3000, seed: 7 })) {
    const text = damage.reduce((rest, [place, size, inserted]) => {
      const at = place % (rest.length + 1)
      return rest.slice(0, at) + inserted + rest.slice(at + size)
    }, body)
    const outcome = decodeCapture(task(text))
    if (outcome.kind !== 'captured') continue
    for (const { payload, eventCount } of outcome.parts) {
      const batch = openEventBatch(payload)
      const record = {
        position,
        end: position,
        kind: 'events',
        eventCount,
        duplicates: null,
        payload,
      } as const
      rows += (await loader.load('realtime', record, batch, 0, eventCount + 1)).rows
    }
  }
  await loader.flush()
  t.ok(rows > 1000, `${rows} rows`)
  const read = await connection.runAndReadAll(
    `select count(*), count(*) filter (json_valid(properties) and json_type(properties) = 'OBJECT') from event`,
  )
  t.strictSame(read.getRowsJson(), [[String(rows), String(rows)]])
})
