// The pool of threads that decode request bodies, seen from the main thread. What waits in it is bounded in bytes,
// not in tasks: ten thousand pixels and ten 20 MB imports are different loads.

import { fileURLToPath } from 'node:url'
import { FixedQueue, Piscina } from 'piscina'
import { ServiceError } from '../errors.ts'
import type { HttpRequest } from '../http/route.ts'
import { formatBytes, ownsItsBuffer } from '../lib/bytes.ts'
import { threadFlags } from '../lib/thread-flags.ts'
import type { CaptureTask, DecodedRequest } from './capture-task.ts'

/** Bodies that wait or are being decoded, as sent. An empty pool admits one body of any legal size. */
const decodeQueueBytesMax = 128 * 1024 * 1024
/** Requests that wait; far above what the byte limit lets in of bodies worth a thread. */
const decodeQueueTasksMax = 65_536
/** A decoding thread's heap: columns live outside of it, and no object is built for more than one event. */
const decodeHeapMiB = 512

/** What a thread is asked for. */
export interface Undecoded {
  readonly task: CaptureTask
  /** The body's memory shall come back. */
  readonly isLent: boolean
}

/** What it answers. */
export interface Decoded {
  readonly outcome: DecodedRequest
  /** Of a body that was lent and is not in the outcome. */
  readonly memory: ArrayBuffer | null
}

export interface DecodePool {
  /**
   * Decodes one request. The task's body is moved to the thread, or copied where it shares its memory. With `giveBack`
   * its memory comes back there, all of it, unless the outcome holds the body.
   * Errors: capture_overloaded when too much waits already; internal when the thread died over this body.
   */
  run(task: CaptureTask, giveBack?: HttpRequest['giveBack']): Promise<DecodedRequest>
  /** Bytes of bodies that wait or are being decoded. */
  queuedBytes(): number
  close(): Promise<void>
}

export function openDecodePool(threadCount: number): DecodePool {
  const pool = new Piscina({
    filename: fileURLToPath(new URL('../../workers/decode.js', import.meta.url)),
    minThreads: threadCount,
    maxThreads: threadCount,
    maxQueue: decodeQueueTasksMax,
    taskQueue: new FixedQueue(),
    resourceLimits: { maxOldGenerationSizeMb: decodeHeapMiB },
    execArgv: threadFlags,
  })
  let queuedBytes = 0
  return {
    async run(task, giveBack = null) {
      const size = task.body.byteLength
      if (queuedBytes > 0 && queuedBytes + size > decodeQueueBytesMax) {
        const detail =
          `transient error, please retry: ${formatBytes(queuedBytes)} wait to be decoded, ` +
          `the limit is ${formatBytes(decodeQueueBytesMax)}`
        throw new ServiceError('capture_overloaded', { detail, retryAfterSeconds: 1 })
      }
      queuedBytes += size
      const isLent = giveBack !== null
      const body = isLent || ownsItsBuffer(task.body) ? task.body : task.body.slice()
      try {
        // What the thread's only export returns.
        const decoded = (await pool.run(
          { task: { ...task, body }, isLent },
          { transferList: [body.buffer] },
        )) as Decoded
        if (decoded.memory !== null) giveBack?.(decoded.memory)
        return decoded.outcome
      } finally {
        queuedBytes -= size
      }
    },
    queuedBytes: () => queuedBytes,
    close: () => pool.close(),
  }
}
