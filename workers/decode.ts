// Thread entry of the decode pool: bytes of a request in, columns of events out, both moved instead of copied.

import { setImmediate } from 'node:timers/promises'
import { MessagePort, type TransferListItem } from 'node:worker_threads'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { CaptureOutcome, DecodedRequest } from '../src/capture/capture-task.ts'
import { decodeCapture } from '../src/capture/decode.ts'
import { decodePieces, isForPieces } from '../src/capture/decode-pieces.ts'
import type { Decoded, Undecoded } from '../src/capture/decode-pool.ts'
import { eventsToMove } from '../src/capture/encoded-events.ts'
import type { Bytes } from '../src/lib/bytes.ts'
import { releaseMemory } from '../src/release-memory.ts'

export default async function decode({ task, isLent }: Undecoded) {
  try {
    const outcome = (isForPieces(task) ? await decodePieces(task) : null) ?? decodeCapture(task)
    const moved: TransferListItem[] = []
    const decoded: Decoded = { outcome: toMove(outcome, moved), memory: memoryOf(outcome, task.body, isLent) }
    if (decoded.memory !== null) moved.push(decoded.memory)
    // Between two tasks the thread sleeps outside of its event loop, which is where ports that are closed go.
    if (moved.some((one) => one instanceof MessagePort)) await setImmediate()
    return move({ [transferableSymbol]: moved, [valueSymbol]: decoded })
  } catch (error) {
    // A bug, but not one that an idle thread holds 20 MB for.
    releaseMemory(task.body.buffer)
    throw error
  }
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
