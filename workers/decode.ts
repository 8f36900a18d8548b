// Thread entry of the decode pool: bytes of a request in, columns of events out, both moved instead of copied.

import type { TransferListItem } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { CaptureOutcome, DecodedRequest } from '../src/capture/capture-task.ts'
import { decodeCapture } from '../src/capture/decode.ts'
import { decodePieces, isForPieces } from '../src/capture/decode-pieces.ts'
import type { Decoded, Undecoded } from '../src/capture/decode-pool.ts'
import { eventsToMove } from '../src/capture/encoded-events.ts'
import type { Bytes } from '../src/lib/bytes.ts'
import { releaseMemory } from '../src/release-memory.ts'

export default async function decode({ task, isLent }: Undecoded) {
  const outcome = (isForPieces(task) ? await decodePieces(task) : null) ?? decodeCapture(task)
  const moved: TransferListItem[] = []
  const decoded: Decoded = { outcome: toMove(outcome, moved), memory: memoryOf(outcome, task.body, isLent) }
  if (decoded.memory !== null) moved.push(decoded.memory)
  return move({ [transferableSymbol]: moved, [valueSymbol]: decoded })
}

function toMove(outcome: CaptureOutcome, moved: TransferListItem[]): DecodedRequest {
  if (outcome.kind === 'captured') {
    const { parts, ...captured } = outcome
    return { ...captured, events: eventsToMove(parts, moved) }
  }
  if (outcome.kind === 'unknown_key') moved.push(outcome.body.buffer)
  return outcome
}

/** The body's memory, if it is to go back by itself. It was moved here, and only an unknown key's body goes back. */
function memoryOf(outcome: CaptureOutcome, body: Bytes, isLent: boolean): ArrayBuffer | null {
  if (outcome.kind === 'unknown_key') return null
  if (isLent) return body.buffer
  releaseMemory(body.buffer)
  return null
}
