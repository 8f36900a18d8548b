import t from 'tap'
import {
  type EventBatchHeader,
  type EventColumns,
  EventFlag,
  encodeEventBatch,
  eventBatchVersion,
  openEventBatch,
  type TextColumn,
  textColumnNames,
  textValue,
  timestampOf,
} from '../../src/capture/event-batch.ts'

const header: EventBatchHeader = {
  version: eventBatchVersion,
  projectId: 7,
  receivedAtMs: 1714564800000,
  sentAtMs: null,
  historical: true,
  count: 2,
}

const columns: EventColumns = {
  uuids: Uint8Array.from({ length: 32 }, (_, index) => index),
  bornIds: Uint8Array.from({ length: 32 }, (_, index) => 100 + index),
  timestamps: Float64Array.of(1714564800123456, -1),
  flags: Uint8Array.of(EventFlag.clientUuid, EventFlag.anonymous | EventFlag.separator),
  text: {
    event: textColumn('$pageview', 'b\u001ec'),
    distinctId: textColumn('u', 'üser'),
    properties: textColumn('{"a":1}', '{}'),
    person: textColumn('', '{"$set":{}}'),
    elementsChain: textColumn('', ''),
  },
}

function textColumn(...values: string[]): TextColumn {
  const bytes = Buffer.from(values.map((value) => `${value}\u001e`).join(''))
  let end = -1
  const ends = values.map((value) => {
    end += 1 + Buffer.byteLength(value)
    return end
  })
  return { bytes: new Uint8Array(bytes), ends: Uint32Array.from(ends) }
}

t.test('opens what was encoded', async (t) => {
  const batch = openEventBatch(encodeEventBatch(header, columns))
  t.same(batch.header, header)
  t.same([...batch.uuids], [...columns.uuids])
  t.same([...batch.bornIds], [...columns.bornIds])
  t.same([...batch.flags], [1, 18])
  t.equal(timestampOf(batch, 0), 1714564800123456)
  t.equal(timestampOf(batch, 1), -1)
  const values = textColumnNames.map((name) => [
    textValue(batch.text[name], 0),
    textValue(batch.text[name], 1),
  ])
  t.same(values, [
    ['$pageview', 'b\u001ec'],
    ['u', 'üser'],
    ['{"a":1}', '{}'],
    ['', '{"$set":{}}'],
    ['', ''],
  ])
})

t.test('hands a text column over as one text with a separator behind every value', async (t) => {
  const batch = openEventBatch(encodeEventBatch(header, columns))
  t.equal(Buffer.from(batch.text.properties.bytes).toString(), '{"a":1}\u001e{}\u001e')
  t.equal(Buffer.from(batch.text.elementsChain.bytes).toString(), '\u001e\u001e')
})

t.test('encodes only the rows that count, from columns with room for more', async (t) => {
  const one = openEventBatch(
    encodeEventBatch(
      { ...header, count: 1 },
      {
        ...columns,
        text: {
          event: textColumn('$pageview'),
          distinctId: textColumn('u'),
          properties: textColumn('{"a":1}'),
          person: textColumn(''),
          elementsChain: textColumn(''),
        },
      },
    ),
  )
  t.equal(one.uuids.length, 16)
  t.equal(one.timestamps.length, 1)
  t.equal(textValue(one.text.properties, 0), '{"a":1}')
})

t.test('opens a batch in the middle of a buffer, at a multiple of 8', async (t) => {
  const encoded = encodeEventBatch(header, columns)
  const buffer = new Uint8Array(encoded.length + 16)
  buffer.set(encoded, 8)
  const batch = openEventBatch(buffer.subarray(8, 8 + encoded.length))
  t.equal(textValue(batch.text.distinctId, 1), 'üser')
  t.throws(() => openEventBatch(buffer.subarray(4)), /multiple of 8/)
})

t.test('opens an empty batch', async (t) => {
  const empty = { bytes: new Uint8Array(0), ends: new Uint32Array(0) }
  const text = { event: empty, distinctId: empty, properties: empty, person: empty, elementsChain: empty }
  const none = openEventBatch(encodeEventBatch({ ...header, count: 0 }, { ...columns, text }))
  t.equal(none.header.count, 0)
  t.equal(none.text.event.bytes.length, 0)
})

t.test('refuses a version it does not read', async (t) => {
  const next = { ...header, version: eventBatchVersion + 1 }
  t.throws(() => openEventBatch(encodeEventBatch(next, columns)), /version 2/)
})
