// Thread entry of the decode pool: bytes of a request in, columns of events out, both moved instead of copied.

import type { TransferListItem } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { CaptureOutcome, CaptureTask, DecodedRequest } from '../src/capture/capture-task.ts'
import { decodeCapture } from '../src/capture/decode.ts'
import { decodePieces, isForPieces } from '../src/capture/decode-pieces.ts'
import { eventsToMove } from '../src/capture/encoded-events.ts'
import { releaseMemory } from '../src/release-memory.ts'

export default async function decode(task: CaptureTask) {
  const outcome = (isForPieces(task) ? await decodePieces(task) : null) ?? decodeCapture(task)
  // It was moved here, and only a body of an unknown key goes back.
  if (outcome.kind !== 'unknown_key') releaseMemory(task.body.buffer)
  const moved: TransferListItem[] = []
  const decoded = toMove(outcome, moved)
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
