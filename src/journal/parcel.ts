// A chain that crosses the main thread unopened, from the thread that made it to its lane.
//
// V8 counts all memory that is moved into a thread as if it were new there. The columns of one body of 19 MB had it
// mark the main thread's heap in steps of 5 to 10 ms each, and nobody was answered meanwhile. A port that already holds
// the message is moved on instead: nothing of the chain is ever seen here but its size.

import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { assert } from '../lib/assert.ts'
import type { Chain } from './append-ring.ts'
import { chainBytesMax } from './frame-group.ts'

export interface Parcel {
  /** Holds the chain. To be moved, or closed: it stays open otherwise. */
  readonly port: MessagePort
  /** The most bytes that the chain can take in a segment. */
  readonly bytesMax: number
}

/** Packs `chain`, all of whose memory is moved. */
export function pack(chain: Chain): Parcel {
  const moved = chain.flatMap(({ payload, dedupKeys }) =>
    dedupKeys === null ? [payload.buffer] : [payload.buffer, dedupKeys.buffer],
  )
  const bytesMax = chainBytesMax(chain)
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(chain, moved)
  return { port: port2, bytesMax }
}

/** Takes the chain out, once. */
export function unpack({ port }: Parcel): Chain {
  const received = receiveMessageOnPort(port)
  port.close()
  assert(received !== undefined, 'a parcel is unpacked once')
  return received.message
}
