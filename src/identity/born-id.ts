// The id of the person that a distinct_id is born to, as text.

import { formatUuid, writeBornId } from '../lib/uuid.ts'

const scratch = new Uint8Array(16)

/** uuidv5 of "<project>:<distinct_id>". */
export function bornIdOf(projectId: number, distinctId: string): string {
  const bytes = Buffer.from(distinctId)
  writeBornId(projectId, bytes, 0, bytes.length, scratch, 0)
  return formatUuid(scratch, 0)
}
