// The audit log: who changed what in an organization. An entry is written in the transaction of its change, so that
// there is never one without the other.

import type { Principal } from '../api/principal.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'

/** Whose doing it was: a request's context, or the command line, which has neither principal nor address. */
export interface Actor {
  readonly principal: Pick<Principal, 'userId' | 'keyId'> | null
  readonly address: string | null
}

export interface Activity {
  readonly organizationId: string
  /** Where it happened, so that it is told to those only who may enter; without one it is the organization's. */
  readonly projectId?: number
  readonly activity: 'created' | 'updated' | 'deleted' | (string & {})
  /** The kind of thing, as the API calls it: "Organization", "FeatureFlag". */
  readonly scope: string
  readonly itemId: string | number
  /** Without secrets: name a secret field in `changesBetween`, and its values are masked. */
  readonly changes?: readonly Change[]
}

export interface Change {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

const mask = '********'
/** Longest value of a change as JSON; what is longer is named only. */
const valueCharsMax = 10_000

/** Writes one entry. `nowMs` is when it happened. */
export async function recordActivity(
  session: Session,
  { principal, address }: Actor,
  entry: Activity,
  nowMs: number,
): Promise<void> {
  const { organizationId, projectId, activity, scope, itemId, changes = [] } = entry
  await session.query(
    `insert into organization_activity
       (id, organization_id, project_id, user_id, key_id, address, activity, scope, item_id, detail, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, to_timestamp($11))`,
    [
      makeUuidV7(nowMs),
      organizationId,
      projectId ?? null,
      principal?.userId ?? null,
      principal?.keyId ?? null,
      address,
      activity,
      scope,
      String(itemId),
      JSON.stringify({ changes }),
      nowMs / 1000,
    ],
  )
}

/** The fields of `after` whose values differ from those of `before`; those of `secrets` are masked. */
export function changesBetween(
  before: object,
  after: object,
  fields: readonly string[],
  secrets: readonly string[] = [],
): Change[] {
  return fields.flatMap((field) => {
    const [old, now] = [fieldOf(before, field), fieldOf(after, field)]
    if (JSON.stringify(old) === JSON.stringify(now)) return []
    if (!secrets.includes(field)) return [{ field, before: shortened(old), after: shortened(now) }]
    return [{ field, before: old === null ? null : mask, after: now === null ? null : mask }]
  })
}

function fieldOf(row: object, field: string): unknown {
  return Reflect.get(row, field) ?? null
}

function shortened(value: unknown): unknown {
  const { length } = JSON.stringify(value)
  return length <= valueCharsMax ? value : `(${length} characters)`
}
