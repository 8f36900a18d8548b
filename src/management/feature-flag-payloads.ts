// Payloads that are encrypted: a flag that says `has_encrypted_payloads` is stored and shown with a text in the place
// of each. Whoever sends that text back means the payload that is stored. Only remote_config opens them.

import { ServiceError } from '../errors.ts'
import { filterFault } from '../flags/check-property.ts'
import { type JsonObject, objectIn } from '../flags/json-value.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import type { SealedPlace, Sealer } from '../sealing/sealer.ts'
import { type Change, writingFilters } from './definition-writes.ts'

/** Stands for a payload, as upstream's does. */
export const redactedPayload = '"********* (encrypted)"'

export interface HiddenPayloads {
  /** As they are stored and shown. */
  readonly filters: JsonObject
  /** By key: payloads that were sent. */
  readonly sent: ReadonlyMap<string, unknown>
  /** Keys of payloads that stay as they are. */
  readonly kept: readonly string[]
}

/** Takes the payloads out of `filters`. */
export function hidePayloads(filters: JsonObject): HiddenPayloads {
  const payloads = Object.entries(objectIn(filters.payloads) ?? {}).filter(([, payload]) => payload !== null)
  const sent = payloads.filter(([, payload]) => payload !== redactedPayload)
  return {
    filters: { ...filters, payloads: Object.fromEntries(payloads.map(([key]) => [key, redactedPayload])) },
    sent: new Map(sent),
    kept: payloads.filter(([, payload]) => payload === redactedPayload).map(([key]) => key),
  }
}

/** Errors: invalid_input when a payload would be shown that nobody has sent. */
export function checkShownPayloads(filters: JsonObject): void {
  const { kept } = hidePayloads(filters)
  if (kept.length === 0) return
  const detail = `Send the payload ${JSON.stringify(kept[0])} again: it was encrypted, and is shown from now on.`
  throw new ServiceError('invalid_input', { detail, attr: 'has_encrypted_payloads' })
}

/** Seals what was sent, and forgets what is neither sent nor kept. Errors: invalid_input, secret_unreadable. */
export async function savePayloads(
  { session, project, nowMs }: Change,
  flagId: number,
  { sent, kept }: HiddenPayloads,
  sealer: Sealer,
): Promise<void> {
  const { rows } = await session.query<{ value_key: string }>(
    `with gone as (
       delete from feature_flag_payload
       where project_id = $1 and flag_id = $2 and not value_key = any($3::text[]))
     select value_key from feature_flag_payload where project_id = $1 and flag_id = $2`,
    [project.id, flagId, kept],
  )
  const missing = kept.find((key) => !rows.some(({ value_key }) => value_key === key))
  if (missing !== undefined)
    throw filterFault(`payloads[${JSON.stringify(missing)}] stands for a stored payload, and there is none`)
  for (const [key, payload] of sent) {
    const id = makeUuidV7(nowMs)
    await writingFilters(
      session.query(
        `insert into feature_flag_payload (id, project_id, flag_id, value_key, payload)
         values ($1, $2, $3, $4, $5)`,
        [id, project.id, flagId, key, sealer.seal(placeOf(id), JSON.stringify(payload))],
      ),
    )
  }
}

/** Forgets all payloads of a flag. */
export async function deletePayloads({ session, project }: Change, flagId: number): Promise<void> {
  await session.query('delete from feature_flag_payload where project_id = $1 and flag_id = $2', [
    project.id,
    flagId,
  ])
}

/** Opens a payload; null when there is none. Errors: secret_unreadable. */
export async function openPayload(
  session: Session,
  sealer: Sealer,
  flag: { readonly projectId: number; readonly flagId: number; readonly key: string },
): Promise<unknown> {
  const { rows } = await session.query<{ id: string; payload: string }>(
    'select id, payload from feature_flag_payload where project_id = $1 and flag_id = $2 and value_key = $3',
    [flag.projectId, flag.flagId, flag.key],
  )
  return rows[0] === undefined ? null : JSON.parse(sealer.open(placeOf(rows[0].id), rows[0].payload))
}

function placeOf(id: string): SealedPlace {
  return { table: 'feature_flag_payload', column: 'payload', id }
}
