// Compares what batches say with the plain version of decoding, event by event.

import { isDeepStrictEqual } from 'node:util'
import type { CaptureTask } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { type EventBatch, openEventBatch, textColumnNames } from '../../src/capture/event-batch.ts'
import { nextMember, openMembers } from '../../src/capture/members.ts'
import { createPieces, nextPiece, openPieces, personText } from '../../src/capture/person-pieces.ts'
import { openScan } from '../../src/capture/scan.ts'
import { textValue, valueStart } from '../../src/capture/text-column.ts'
import { personColumn } from '../../src/identity/operations.ts'
import { type PlainRow, plainDecode } from './plain-decode.ts'
import { plainDigest } from './plain-digest.ts'
import { asVersion2 } from './recorded-batch.ts'
import { type Captured, dropsOf, rowsOf, warningsOf } from './tasks.ts'

export interface Counts {
  rows: number
  parts: number
  persons: number
  pieces: number
  idPlaces: number
  digests: number
}

/** Returns what is wrong about the batches of a task, or null; `counts` is told of what there was. */
export function compareWithPlain(task: CaptureTask, counts: Counts): string | null {
  const expected = plainDecode(task)
  const found = decodeCapture({ ...task, body: task.body.slice() })
  if (found.kind !== expected.kind) return `found ${found.kind}, expected ${expected.kind}`
  if (found.kind !== 'captured' || expected.kind !== 'captured') return null
  if (!isDeepStrictEqual(dropsOf(found), expected.drops))
    return `drops ${JSON.stringify([dropsOf(found), expected.drops])}`
  if (!isDeepStrictEqual(warningsOf(found), expected.warnings)) return 'warnings'
  const rows = rowsOf(found)
  if (rows.length !== expected.rows.length) return `${rows.length} rows, expected ${expected.rows.length}`
  for (const [index, { dedupKey, ...row }] of rows.entries()) {
    const plain: PlainRow = {
      ...row,
      uuid: isDeepStrictEqual(dedupKey, [0, 0]) ? null : row.uuid,
      properties: JSON.parse(row.properties),
      person: row.person === '' ? null : JSON.parse(row.person),
    }
    if (!isDeepStrictEqual(plain, expected.rows[index])) {
      return `event ${index}: ${JSON.stringify(plain)}, expected ${JSON.stringify(expected.rows[index])}`
    }
  }
  counts.rows += rows.length
  return comparePart(found, task.limits.recordBytesMax, counts)
}

/** What holds of each part by itself. */
function comparePart({ parts }: Captured, recordBytesMax: number, counts: Counts): string | null {
  for (const { payload, eventCount } of parts) {
    counts.parts++
    const batch = openEventBatch(payload)
    const older = openEventBatch(asVersion2(batch))
    if (batch.header.count !== eventCount) return `${eventCount} events in a batch of ${batch.header.count}`
    // A header and what aligns the columns come on top.
    if (eventCount > 1 && payload.length > recordBytesMax + 256)
      return `${payload.length} bytes of ${recordBytesMax}`
    for (let index = 0; index < eventCount; index++) {
      const fault = compareEvent(batch, older, index, counts)
      if (fault !== null) return `event ${index} of a part of ${eventCount}: ${fault}`
    }
  }
  return null
}

const pieces = createPieces()

function compareEvent(batch: EventBatch, older: EventBatch, index: number, counts: Counts): string | null {
  for (const name of textColumnNames) {
    if (name !== 'person' && textValue(batch.text[name], index) !== textValue(older.text[name], index))
      return name
  }
  const { properties, distinctId } = batch.text
  if (valueStart(distinctId, index) >= valueStart(properties, 0)) counts.idPlaces++
  const person = personText(batch, index)
  if (batch.digests[index] !== plainDigest(batch, index)) return `digest ${batch.digests[index]} of ${person}`
  if (batch.digests[index]! > 0) counts.digests++
  if (older.digests[index] !== 0) return `digest ${older.digests[index]} in version 2`
  if (person === '') return null
  counts.persons++
  for (openPieces(pieces, batch, index); nextPiece(pieces); ) counts.pieces++
  const members = membersOf(person)
  const stored = new Map(membersOf(textValue(properties, index)))
  for (const [key, text] of members) {
    if (stored.get(key) !== text && !key.startsWith('$geoip_'))
      return `${key} is ${text}, and ${stored.get(key)} in properties`
  }
  if (new Set(members.map(([key]) => key)).size !== members.length) return `a key twice in ${person}`
  if (!isDeepStrictEqual(new Map(members), personColumn(batch, index)))
    return 'members as the consumer reads them'
  if (!isDeepStrictEqual(personColumn(older, index), personColumn(batch, index)))
    return 'members of version 2'
  return null
}

/** Keys and the texts of their values, as they stand. */
function membersOf(object: string): [string, string][] {
  const bytes = new Uint8Array(Buffer.from(object))
  const scan = openScan(bytes, false)
  const member = openMembers(scan, 0)
  const text = (start: number, end: number): string => Buffer.from(bytes.subarray(start, end)).toString()
  const members: [string, string][] = []
  while (nextMember(scan, member)) {
    members.push([JSON.parse(`"${text(member.keyStart, member.keyEnd)}"`), text(member.start, member.end)])
  }
  return members
}
