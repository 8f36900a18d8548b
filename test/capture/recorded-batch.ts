// Batches of version 2: one that was kept as it was written, and others made anew.

import { pack } from 'msgpackr'
import { type EventBatch, layOut } from '../../src/capture/event-batch.ts'

/** What was written as version 2 of a $pageview of anna and of an anonymous event whose name holds a separator. */
const recorded =
  'UgAAAN4ABqd2ZXJzaW9uAqlwcm9qZWN0SWQBrHJlY2VpdmVkQXRNc8tCePNAaeAAAKhzZW50QXRNc8tCePNAaeAAAKpoaXN0b3JpY2Fs' +
  'wqVjb3VudAIAAAAAAAAAAHAAgAAAAAAAAAEAAAAAAABwAIAAAAAAAAACKR77AwduX7qPuS6W/7eWF23fZWhJgFmiiUio5z94+LkApBbZ' +
  'jF0YQwCtU9mMXRhDAQMAAAAAAAAQAAAAEQAAABMAAAAHAQAAqgEACbUCBAATWwEDBAUBACRwYWdldmlld2IeY8O8c2VyJhYgERciJG9z' +
  'IjoiaU9TIh4sD3siZGlzdGluY3RfaWQiOiJhbm5hIiwiJGJyb3dzZXIiOiJDaHJvbWUiLCJuIjoxMjM0NTY3ODkwMSwidXRtX3NvdXJj' +
  'ZSI6IngiLCIkb3MiIDogImlPUyIsIiRzZXQiOnsicGxhbiI6ImZyZWUifSwiJGlwIjoiMjAzLjAuMTEzLjciLCIkc2VudF9hdCI6IjIw' +
  'MjQtMDUtMDFUMTI6MDA6MDAuMDAwWiJ9HnsiJHByb2Nlc3NfcGVyc29uX3Byb2ZpbGUiOmZhbHNlLCIkaXAiOiIyMDMuMC4xMTMuNyIs' +
  'IiRzZW50X2F0IjoiMjAyNC0wNS0wMVQxMjowMDowMC4wMDBaIn0eHmEe'

export function recordedBatch(): Uint8Array {
  return new Uint8Array(Buffer.from(recorded, 'base64'))
}

/** Writes what a batch says as version 2, which has no digests. */
export function asVersion2(batch: EventBatch): Uint8Array {
  const { count, version } = batch.header
  const { bytes } = batch.text.person
  const headerLength = Buffer.from(bytes).readUInt32LE(0)
  const header = pack({ ...batch.header, version: 2 })
  const from = layOut(version, headerLength, count)
  const to = layOut(2, header.length, count)
  const older = new Uint8Array(to.behind + bytes.length - from.behind)
  older[0] = header.length
  older.set(header, 4)
  older.set(bytes.subarray(from.uuids, from.digests), to.uuids)
  older.set(batch.flags, to.flags)
  older.set(bytes.subarray(from.behind), to.behind)
  return older
}
