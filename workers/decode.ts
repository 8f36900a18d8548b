// Thread entry of the decode pool: bytes of a request in, columns of events out, both moved instead of copied.

import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { CaptureOutcome, CaptureTask } from '../src/capture/capture-task.ts'
import { decodeCapture } from '../src/capture/decode.ts'
import { decodePieces, isForPieces } from '../src/capture/decode-pieces.ts'
import { releaseMemory } from '../src/release-memory.ts'

export default async function decode(task: CaptureTask) {
  const outcome = (isForPieces(task) ? await decodePieces(task) : null) ?? decodeCapture(task)
  // It was moved here, and only a body of an unknown key goes back.
  if (outcome.kind !== 'unknown_key') releaseMemory(task.body.buffer)
  return move({ [transferableSymbol]: buffersOf(outcome), [valueSymbol]: outcome })
}

function buffersOf(outcome: CaptureOutcome): ArrayBuffer[] {
  if (outcome.kind === 'captured')
    return outcome.parts.flatMap((part) => [part.payload.buffer, part.dedupKeys.buffer])
  return outcome.kind === 'unknown_key' ? [outcome.body.buffer] : []
}
