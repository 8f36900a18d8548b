// The id by which a sender and an operator speak of the same answer.

import { formatUuid, writeUuidV7 } from '../lib/uuid.ts'

const scratch = new Uint8Array(16)

/** A UUID of version 7. */
export function newRequestId(nowMs: number): string {
  writeUuidV7(nowMs, scratch, 0)
  return formatUuid(scratch, 0)
}
