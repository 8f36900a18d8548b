// A destination that takes everything and keeps nothing: for trying out what an export would do.

import type { Delivery, Destination } from './delivery.ts'

export const noOpDestination: Destination = {
  isReplacing: false,
  hasPersonProperties: false,
  format: () => ({ kind: 'jsonl', compression: null }),
  chunkBytesMax: () => null,
  async open(): Promise<Delivery> {
    return {
      async deliver(_chunk, signal) {
        signal.throwIfAborted()
      },
      async finish() {},
      async close() {},
    }
  },
}
