// What readers make of a batch whose bytes are not what was written, had the record's checksum not told.

import t from 'tap'
import { openEventBatch, textColumnNames } from '../../src/capture/event-batch.ts'
import { createPieces, nextPiece, openPieces, personText } from '../../src/capture/person-pieces.ts'
import { valueBytes, valueEnd, valueStart } from '../../src/capture/text-column.ts'
import { recordedBatch } from './recorded-batch.ts'
import { captured } from './tasks.ts'

const events = [
  {
    event: '$pageview',
    distinct_id: 'anna',
    properties: { distinct_id: 'anna', $os: 'iOS', a: [1], $browser: 'B' },
  },
  {
    event: '$pageview',
    distinct_id: 'anna',
    $set: { plan: 'free' },
    properties: { n: 1, $browser: 'x'.repeat(200) },
  },
  {
    event: 'e',
    distinct_id: 'b',
    properties: { $process_person_profile: false, $elements_chain: 'a:href="/"' },
  },
]

/** A batch of this version whose person column holds a text of its own. */
function written(): Uint8Array {
  const body = JSON.stringify({ api_key: 'phc_test', batch: events }).replace('"$os":', '"$os" :')
  return captured(body).parts[0]?.payload ?? new Uint8Array(0)
}

const pieces = createPieces()

/** Reads all that there is. Fails for a value that is not within the bytes; returns the error of a refusal. */
function readAll(bytes: Uint8Array): string {
  try {
    const batch = openEventBatch(bytes)
    for (let index = 0; index < batch.header.count; index++) {
      for (const name of textColumnNames) {
        const start = valueStart(batch.text[name], index)
        const end = valueEnd(batch.text[name], index)
        if (!(start <= end && end <= bytes.length)) return 'outside'
        valueBytes(batch.text[name], index)
      }
      openPieces(pieces, batch, index)
      while (nextPiece(pieces)) if (pieces.start > pieces.end || pieces.end > bytes.length) return 'outside'
      if (personText(batch, index).length > bytes.length * 4) return 'outside'
    }
    return 'read'
  } catch (error) {
    return String(error)
  }
}

for (const [version, whole] of [
  [2, recordedBatch()],
  [3, written()],
] as const) {
  t.test(`version ${version}: refuses what is cut off, wherever`, async (t) => {
    t.equal(readAll(whole), 'read')
    for (let length = 0; length < whole.length; length++) {
      if (!readAll(whole.slice(0, length)).includes('Error: '))
        t.fail(`${length} of ${whole.length} bytes are read`)
    }
    const longer = new Uint8Array(whole.length + 1)
    longer.set(whole)
    t.match(readAll(longer), /fill its bytes/)
  })

  t.test(`version ${version}: reads nothing outside of it, whichever byte is another`, async (t) => {
    const counts = { read: 0, refused: 0 }
    for (let at = 0; at < whole.length; at++) {
      for (const value of [0, 1, 0x22, 0x7f, 0x80, 0xff, whole[at]! + 1, whole[at]! - 1]) {
        const damaged = whole.slice()
        damaged[at] = value
        const outcome = readAll(damaged)
        if (outcome === 'outside') t.fail(`${value} at ${at}`)
        counts[outcome === 'read' ? 'read' : 'refused']++
      }
    }
    t.ok(counts.read > 1000 && counts.refused > 100, JSON.stringify(counts))
  })
}

t.test('refuses a batch that holds more events than bytes', async (t) => {
  const header = Buffer.concat([
    Buffer.from([0x82, 0xa7, ...Buffer.from('version'), 2, 0xa5, ...Buffer.from('count'), 0xce]),
    Buffer.from([0xff, 0xff, 0xff, 0xff]),
  ])
  const bytes = new Uint8Array(4096)
  bytes[0] = header.length
  bytes.set(header, 4)
  t.match(readAll(bytes), /an event batch of 4096 bytes holds 4294967295 events/)
})
