// Other ways to take the same events in, to stand beside the server: each with what its acknowledgement means.

import type { Corpus } from './corpus.ts'
import type { RequestBytes } from './request-bytes.ts'
import type { Workload } from './workload.ts'

/** The requests of a workload: as capture takes them, and what they are made of. */
export interface PeerRequests {
  readonly capture: RequestBytes
  readonly corpus: Corpus
  readonly workload: Workload
  /** How many will be sent at most. */
  readonly count: number
}

export interface PeerCount {
  readonly events: number
  readonly distinctEvents: number
}

export interface Peer {
  readonly name: string
  /** What is true once a request is answered 200. */
  readonly ack: string
  readonly port: number
  bytesOf(number: number): Uint8Array
  /** Processor seconds it has used so far, with all it has started. */
  cpuSeconds(): number
  /** Waits until everything acknowledged is where queries find it. */
  settle(): Promise<void>
  /** What queries find. */
  count(): Promise<PeerCount>
  close(): Promise<void>
}

/** Opens a peer with its data in `folder`, which is empty; a reason when this machine cannot run it. */
export type OpenPeer = (
  folder: string,
  core: number | null,
  requests: PeerRequests,
) => Promise<Peer | { readonly missing: string }>
