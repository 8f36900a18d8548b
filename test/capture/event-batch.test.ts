import t from 'tap'
import {
  type EventBatchHeader,
  EventFlag,
  eventBatchVersion,
  openEventBatch,
  textColumnNames,
  timestampOf,
} from '../../src/capture/event-batch.ts'
import {
  type EventColumns,
  encodeEventBatch,
  type WrittenColumn,
} from '../../src/capture/event-batch-writer.ts'
import { personText } from '../../src/capture/person-pieces.ts'
import {
  type TextColumn,
  textValue,
  valueBytes,
  valueEnd,
  valueStart,
} from '../../src/capture/text-column.ts'
import { formatUuid } from '../../src/lib/uuid.ts'
import { capturedBatch } from '../identity/captured.ts'
import { recordedBatch } from './recorded-batch.ts'

const header: EventBatchHeader = {
  version: eventBatchVersion,
  projectId: 7,
  receivedAtMs: 1714564800000,
  historical: true,
  count: 2,
}

const columns: EventColumns = {
  uuids: Uint8Array.from({ length: 32 }, (_, index) => index),
  bornIds: Uint8Array.from({ length: 32 }, (_, index) => 100 + index),
  timestamps: Float64Array.of(1714564800123456, -1),
  digests: Float64Array.of(0, 2 ** 42 - 1),
  flags: Uint8Array.of(EventFlag.clientUuid, EventFlag.anonymous | EventFlag.groups),
  idDistances: Uint32Array.of(0, 6),
  text: {
    event: textColumn('$pageview', 'b\u001ec'),
    distinctId: textColumn('u', 'üse'),
    properties: textColumn('{"a":1}', '{"id":"üse"}'),
    person: textColumn('', '\u0016\u0001'),
    elementsChain: textColumn('', 'nav'),
  },
}

/** What the layout says behind the flags of these two: sizes, places, shared texts, person, properties, chains. */
const behindFlags = Buffer.concat([
  Buffer.from([14, 0, 0, 0, 13, 0, 0, 0, 2, 0, 0, 0, 22, 0, 0, 0]),
  Buffer.from([7, 0, 9, 2, 1, 0, 0, 13, 2, 3, 13, 4, 3, 2]),
  Buffer.from('$pageviewub\u001ec\u0016\u0001{"a":1}\u001e{"id":"üse"}\u001e\u001enav\u001e'),
])

function textColumn(...values: string[]): WrittenColumn {
  const bytes = Buffer.from(values.map((value) => `${value}\u001e`).join(''))
  let end = -1
  const ends = values.map((value) => {
    end += 1 + Buffer.byteLength(value)
    return end
  })
  return { bytes: new Uint8Array(bytes), ends: Uint32Array.from(ends) }
}

t.test('writes what the layout says', async (t) => {
  const encoded = encodeEventBatch(header, columns)
  t.equal(encoded.byteLength, encoded.buffer.byteLength, 'in memory of its own')
  t.same(Buffer.from(encoded.subarray(-behindFlags.length)), behindFlags)
  // Timestamps, digests and flags, up to the next multiple of 8.
  const words =
    '00496ce78c5d1843000000000000f0bf' + '0000000000000000' + '00f8ffffffff8f42' + '010a000000000000'
  t.equal(Buffer.from(encoded.subarray(-behindFlags.length - 40, -behindFlags.length)).toString('hex'), words)
})

t.test('opens what was encoded', async (t) => {
  const batch = openEventBatch(encodeEventBatch(header, columns))
  t.same(batch.header, header)
  t.same([...batch.uuids], [...columns.uuids])
  t.same([...batch.bornIds], [...columns.bornIds])
  t.same([...batch.flags], [1, 10])
  t.same([...batch.digests], [0, 4398046511103])
  t.equal(timestampOf(batch, 0), 1714564800123456)
  t.equal(timestampOf(batch, 1), -1)
  const values = [0, 1].map((row) => textColumnNames.map((name) => textValue(batch.text[name], row)))
  t.same(values, [
    ['$pageview', 'u', '{"a":1}', '', ''],
    ['b\u001ec', 'üse', '{"id":"üse"}', '\u0016\u0001', 'nav'],
  ])
  t.equal(Buffer.from(valueBytes(batch.text.distinctId, 1)).toString(), 'üse')
})

t.test('a batch of version 2 is read as it was written, without digests', async (t) => {
  const batch = openEventBatch(recordedBatch())
  t.match(batch.header, {
    version: 2,
    projectId: 1,
    receivedAtMs: 1714564800000,
    historical: false,
    count: 2,
  })
  t.same([...batch.flags], [EventFlag.clientUuid, EventFlag.clientUuid | EventFlag.anonymous])
  t.same([...batch.timestamps], [1714564740000000, 1714564741000000])
  t.same([...batch.digests], [0, 0])
  t.equal(formatUuid(batch.uuids, 16), '00000000-0000-7000-8000-000000000002')
  const added = '"$ip":"203.0.113.7","$sent_at":"2024-05-01T12:00:00.000Z"'
  const sent = '"distinct_id":"anna","$browser":"Chrome","n":12345678901,"utm_source":"x","$os" : "iOS"'
  const properties = [
    `{${sent},"$set":{"plan":"free"},${added}}`,
    `{"$process_person_profile":false,${added}}`,
  ]
  const values = (['event', 'distinctId', 'properties', 'elementsChain'] as const).map((name) =>
    [0, 1].map((row) => textValue(batch.text[name], row)),
  )
  t.same(values, [['$pageview', 'b\x1ec'], ['anna', 'üser'], properties, ['', 'a']])
  const person = '{"$browser":"Chrome","utm_source":"x","$os":"iOS","$set":{"plan":"free"}}'
  t.same([personText(batch, 0), personText(batch, 1)], [person, ''])
})

t.test('properties and chains stand as one text with a separator behind every value', async (t) => {
  const { text } = openEventBatch(encodeEventBatch(header, columns))
  const stretch = (column: TextColumn) => {
    const bytes = column.bytes.subarray(valueStart(column, 0), valueEnd(column, 1) + 1)
    return Buffer.from(bytes).toString()
  }
  t.equal(stretch(text.properties), '{"a":1}\u001e{"id":"üse"}\u001e')
  t.equal(stretch(text.elementsChain), '\u001enav\u001e')
})

t.test('encodes only the rows that count, from columns with room for more', async (t) => {
  const none = textColumn('')
  const text = {
    event: textColumn('$pageview'),
    distinctId: textColumn('u'),
    properties: textColumn('{"a":1}'),
  }
  const one = openEventBatch(
    encodeEventBatch(
      { ...header, count: 1 },
      { ...columns, text: { ...text, person: none, elementsChain: none } },
    ),
  )
  t.equal(one.uuids.length, 16)
  t.equal(one.timestamps.length, 1)
  t.equal(textValue(one.text.properties, 0), '{"a":1}')
})

t.test('writes a text that repeats once, and every number as long as it must be', async (t) => {
  const count = 20_000
  const names = Array.from({ length: count }, (_, row) => (row % 3 === 0 ? `event ${row}` : '$pageview'))
  const ids = Array.from({ length: count }, (_, row) => (row % 2 === 0 ? `id ${row}` : 'x'.repeat(200)))
  const properties = Array.from({ length: count }, (_, row) => (row % 5000 === 0 ? 'p'.repeat(40_000) : '{}'))
  const empty = textColumn(...Array<string>(count).fill(''))
  const texts = { event: textColumn(...names), distinctId: textColumn(...ids) }
  const encode = (): EventColumns => ({
    uuids: new Uint8Array(count * 16),
    bornIds: new Uint8Array(count * 16),
    timestamps: new Float64Array(count),
    digests: new Float64Array(count),
    flags: new Uint8Array(count),
    idDistances: new Uint32Array(count),
    text: { ...texts, properties: textColumn(...properties), person: empty, elementsChain: empty },
  })
  // The second batch finds the texts of the first forgotten.
  for (let turn = 0; turn < 2; turn++) {
    const encoded = encodeEventBatch({ ...header, count }, encode())
    t.ok(encoded.length < count * 70 + 4 * 40_000, `${encoded.length} bytes`)
    const { text } = openEventBatch(encoded)
    const fault = names.findIndex(
      (name, row) =>
        textValue(text.event, row) !== name ||
        textValue(text.distinctId, row) !== ids[row] ||
        textValue(text.properties, row) !== properties[row],
    )
    t.equal(fault, -1)
  }
})

t.test('opens a batch in the middle of a buffer, at a multiple of 8', async (t) => {
  const encoded = encodeEventBatch(header, columns)
  const buffer = new Uint8Array(encoded.length + 16)
  buffer.set(encoded, 8)
  const batch = openEventBatch(buffer.subarray(8, 8 + encoded.length))
  t.equal(textValue(batch.text.distinctId, 1), 'üse')
  t.throws(() => openEventBatch(buffer.subarray(4)), /multiple of 8/)
})

t.test('batches that are open side by side, small and large, keep their values', async (t) => {
  const encodeIds = (ids: readonly string[]): Uint8Array => {
    const batch = capturedBatch(ids.map((id) => ({ event: `e-${id}`, distinct_id: id })))
    return batch!.text.event.bytes // nothing is dropped
  }
  const ids = Array.from({ length: 4000 }, (_, i) => `id-${i}`)
  const sizes = [1, 3, 1500, 2, 7, 1, 2486]
  const open = []
  for (let from = 0, round = 0; from < ids.length; round++) {
    const some = ids.slice(from, from + sizes[round % sizes.length]!)
    open.push(openEventBatch(encodeIds(some)))
    from += some.length
  }
  const read = open.flatMap(({ header, text }) =>
    Array.from({ length: header.count }, (_, i) => [
      textValue(text.distinctId, i),
      textValue(text.event, i),
      text.elementsChain.bytes[valueEnd(text.elementsChain, i)],
    ]),
  )
  t.same(
    read,
    ids.map((id) => [id, `e-${id}`, 0x1e]),
  )
})

t.test('opens an empty batch', async (t) => {
  const empty = { bytes: new Uint8Array(0), ends: new Uint32Array(0) }
  const text = { event: empty, distinctId: empty, properties: empty, person: empty, elementsChain: empty }
  const none = openEventBatch(encodeEventBatch({ ...header, count: 0 }, { ...columns, text }))
  t.equal(none.header.count, 0)
  t.same([none.uuids.length, none.flags.length], [0, 0])
})

t.test('refuses a version it does not read', async (t) => {
  const next = { ...header, version: eventBatchVersion + 1 }
  t.throws(() => openEventBatch(encodeEventBatch(next, columns)), /version 4/)
})
