// Batches of version 1: one that was kept as it was written, and others made anew.

import { pack } from 'msgpackr'
import {
  type EventBatch,
  layOut,
  separatorByte,
  textColumnNames,
  textValue,
} from '../../src/capture/event-batch.ts'
import { personText } from '../../src/capture/person-pieces.ts'

/** What was written as version 1 of a $pageview of anna and of an anonymous event whose name holds a separator. */
const recorded =
  'UgAAAN4ABqd2ZXJzaW9uAalwcm9qZWN0SWQBrHJlY2VpdmVkQXRNc8tCePNAaeAAAKhzZW50QXRNc8tCePNAaeAAAKpoaXN0b3Jp' +
  'Y2FswqVjb3VudAIAAAAAAAAAAHAAgAAAAAAAAAEAAAAAAABwAIAAAAAAAAACKR77AwduX7qPuS6W/7eWF23fZWhJgFmiiUio5z94' +
  '+LkApBbZjF0YQwCtU9mMXRhDARMAAAAAAAAJAAAADQAAAAQAAAAKAAAAnAAAAPgAAAA9AAAAPgAAAAAAAAACAAAAJHBhZ2V2aWV3' +
  'HmIeYx5hbm5hHsO8c2VyHnsiZGlzdGluY3RfaWQiOiJhbm5hIiwiJGJyb3dzZXIiOiJDaHJvbWUiLCJuIjoxMjM0NTY3ODkwMSwi' +
  'dXRtX3NvdXJjZSI6IngiLCIkc2V0Ijp7InBsYW4iOiJmcmVlIn0sIiRpcCI6IjIwMy4wLjExMy43IiwiJHNlbnRfYXQiOiIyMDI0' +
  'LTA1LTAxVDEyOjAwOjAwLjAwMFoifR57IiRwcm9jZXNzX3BlcnNvbl9wcm9maWxlIjpmYWxzZSwiJGlwIjoiMjAzLjAuMTEzLjci' +
  'LCIkc2VudF9hdCI6IjIwMjQtMDUtMDFUMTI6MDA6MDAuMDAwWiJ9HnsiJHNldCI6eyJwbGFuIjoiZnJlZSJ9LCIkYnJvd3NlciI6' +
  'IkNocm9tZSIsInV0bV9zb3VyY2UiOiJ4In0eHh5hHg=='

export function recordedBatch(): Uint8Array {
  return new Uint8Array(Buffer.from(recorded, 'base64'))
}

/** Writes what a batch says as version 1. */
export function asVersion1(batch: EventBatch): Uint8Array {
  const { count } = batch.header
  const values = textColumnNames.map((name) =>
    Array.from({ length: count }, (_, index) =>
      Buffer.from(name === 'person' ? personText(batch, index) : textValue(batch.text[name], index)),
    ),
  )
  const header = pack({ ...batch.header, version: 1 })
  const { flags, behind } = layOut(header.length, count)
  const ends = Buffer.alloc(values.length * count * 4)
  for (const [column, ofColumn] of values.entries()) {
    let end = -1
    for (const [index, value] of ofColumn.entries()) {
      end += 1 + value.length
      ends.writeUInt32LE(end, (column * count + index) * 4)
    }
  }
  const fixed = Buffer.alloc(behind)
  fixed.writeUInt32LE(header.length, 0)
  fixed.set(header, 4)
  const { uuids, bornIds, timestamps } = layOut(header.length, count)
  fixed.set(batch.uuids, uuids)
  fixed.set(batch.bornIds, bornIds)
  for (const [index, micros] of batch.timestamps.entries())
    fixed.writeDoubleLE(micros, timestamps + index * 8)
  fixed.set(batch.flags, flags)
  const texts = values.flat().flatMap((value) => [value, Buffer.from([separatorByte])])
  return new Uint8Array(Buffer.concat([fixed, ends, ...texts]))
}
