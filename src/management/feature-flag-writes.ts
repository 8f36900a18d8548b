// How a feature flag is made and changed: what is checked, and in which order.

import { ServiceError } from '../errors.ts'
import { checkFlagFilters } from '../flags/check-flag.ts'
import type { JsonObject } from '../flags/json-value.ts'
import { referencesIn } from '../flags/references.ts'
import { assert } from '../lib/assert.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { changesBetween, recordActivity } from './activity.ts'
import {
  type Change,
  checkReferences,
  checkRoom,
  loadFilters,
  lockDefinitions,
  writingFilters,
} from './definition-writes.ts'
import {
  checkShownPayloads,
  deletePayloads,
  type HiddenPayloads,
  hidePayloads,
  redactedPayload,
  savePayloads,
} from './feature-flag-payloads.ts'
import {
  type FeatureFlag,
  type FeatureFlagInput,
  type FeatureFlagRow,
  featureFlagFields,
  featureFlagOf,
  selectFeatureFlags,
} from './feature-flag-rows.ts'

const keyPattern = /^[a-zA-Z0-9_-]+$/

/**
 * Makes a flag. `sealer` may be null when its payloads are not to be encrypted.
 * Errors: whatever is wrong with it; nothing is made then.
 */
export async function createFeatureFlag(
  change: Change,
  input: FeatureFlagInput,
  sealer: Sealer | null,
): Promise<FeatureFlag> {
  const { session, project, principal, nowMs } = change
  const given = withConditions(input.filters ?? {}, input.rollout_percentage ?? null)
  checkKey(input.key)
  checkFlagFilters(given)
  const hidden = input.has_encrypted_payloads === true ? hidePayloads(given) : null
  const filters = hidden?.filters ?? given
  await lockDefinitions(change)
  await checkKeyFree(change, input.key, null)
  await checkReferences(change, filters, null)
  const { rows } = await writingFilters(
    session.query<{ id: number }>(
      `insert into feature_flag (project_id, key, filters, version, created_at, updated_at, created_by)
       values ($1, $2, $3, 0, to_timestamp($4), to_timestamp($4), $5) returning id`,
      [project.id, input.key, JSON.stringify(filters), nowMs / 1000, principal.userId],
    ),
  )
  const { id } = rows[0]! // an insert that returns has one row
  await writeFields(change, id, { ...input, filters })
  if (hidden !== null) await saveHidden(change, id, hidden, sealer)
  await checkRoom(change)
  const created = await findFeatureFlag(change, id)
  await note(change, 'created', {}, created, false)
  return created
}

/**
 * Changes what `input` has; null leaves a field as it is. Filters without `groups` are laid over the stored ones.
 * `sealer` may be null for a change that brings no payloads.
 * Errors: conflict when `input.version` is not the flag's; whatever is wrong with the change.
 */
export async function changeFeatureFlag(
  change: Change,
  id: number,
  input: Partial<FeatureFlagInput>,
  sealer: Sealer | null,
): Promise<FeatureFlag> {
  await lockDefinitions(change)
  const before = await findFeatureFlag(change, id)
  checkVersion(before, input.version ?? null)
  const key = input.key ?? before.key
  const deleted = input.deleted ?? before.deleted
  const written: Partial<FeatureFlagInput> = { ...input }
  if (input.filters !== undefined) {
    const sent: JsonObject = input.filters
    written.filters = 'groups' in sent ? sent : { ...before.filters, ...sent }
    checkFlagFilters(written.filters)
  }
  const isEncrypted = input.has_encrypted_payloads ?? before.has_encrypted_payloads
  const filters = written.filters ?? before.filters
  const hidden = isEncrypted ? hidePayloads(filters) : null
  if (hidden !== null) written.filters = hidden.filters
  else if (before.has_encrypted_payloads) checkShownPayloads(filters)
  if (key !== before.key) {
    checkKey(key)
    if (before.features.length > 0) {
      const detail = 'Persons have opted into the early access feature of this flag under its present key.'
      throw new ServiceError('invalid_input', { detail, attr: 'key' })
    }
  }
  const isRestored = before.deleted && !deleted
  if (!deleted && (isRestored || key !== before.key)) await checkKeyFree(change, key, id)
  if (!deleted && (isRestored || written.filters !== undefined))
    await checkReferences(change, written.filters ?? before.filters, { kind: 'feature_flag', id })
  if (deleted && !before.deleted) await checkUnused(change, before)
  await writeFields(change, id, written)
  if (hidden !== null) await saveHidden(change, id, hidden, sealer)
  else if (before.has_encrypted_payloads) await deletePayloads(change, id)
  await checkRoom(change)
  const after = await findFeatureFlag(change, id)
  // What is a secret from now on is none the less one in the log.
  const told = hidden === null ? before : { ...before, filters: hidePayloads(before.filters).filters }
  const isNewPayload = hidden !== null && hidden.sent.size > 0
  await note(change, after.deleted && !before.deleted ? 'deleted' : 'updated', told, after, isNewPayload)
  return after
}

/** Errors: not_found for one that the project never had. */
export async function findFeatureFlag(
  { session, project }: Pick<Change, 'session' | 'project'>,
  id: number,
): Promise<FeatureFlag> {
  const { rows } = await session.query<FeatureFlagRow>(`${selectFeatureFlags} and id = $2`, [project.id, id])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return featureFlagOf(rows[0])
}

/** A flag without conditions of its own is for everyone, as upstream has it. */
function withConditions(filters: JsonObject, rolloutPercentage: number | null): JsonObject {
  if (filters.groups !== undefined && filters.groups !== null) return filters
  const { groups: _, properties, rollout_percentage, ...rest } = filters
  const condition = {
    properties: properties ?? [],
    rollout_percentage: rollout_percentage ?? rolloutPercentage,
  }
  return { groups: [condition], ...rest }
}

function checkKey(key: string): void {
  if (keyPattern.test(key)) return
  const detail = 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.'
  throw new ServiceError('invalid_input', { detail, attr: 'key' })
}

async function checkKeyFree({ session, project }: Change, key: string, ownId: number | null): Promise<void> {
  const { rows } = await session.query(
    'select from feature_flag where project_id = $1 and key = $2 and not deleted and id is distinct from $3',
    [project.id, key, ownId],
  )
  if (rows.length === 0) return
  throw new ServiceError('unique', { detail: 'There is already a feature flag with this key.', attr: 'key' })
}

function checkVersion(before: FeatureFlag, version: number | null): void {
  if (version === null || version === before.version) return
  const who = before.last_modified_by?.email ?? 'somebody'
  const detail =
    `The feature flag was updated by ${who} since you started editing it: ` +
    `it has version ${before.version}, not ${version}. Please refresh and try again.`
  throw new ServiceError('conflict', { detail, attr: 'version' })
}

/** What depends on a flag would have no answer without it. */
async function checkUnused({ session, project }: Change, flag: FeatureFlag): Promise<void> {
  const refuse = (what: string): never => {
    const detail = `Cannot delete this feature flag because ${what}.`
    throw new ServiceError('invalid_input', { detail, attr: 'deleted' })
  }
  if (flag.features.length > 0) refuse('it is in use with early access features; delete those first')
  const others = await loadFilters(session, project.id, 'feature_flag')
  const dependents = others.filter(({ filters }) => referencesIn(filters).flagIds.has(flag.id))
  if (dependents.length > 0)
    refuse(
      `other flags depend on it: ${dependents
        .map(({ name }) => name)
        .slice(0, 10)
        .join(', ')}`,
    )
}

/** Writes the fields that `input` has. One statement whatever they are: a record over the row. */
async function writeFields(
  { session, project, principal, nowMs }: Change,
  id: number,
  input: Partial<FeatureFlagInput>,
): Promise<void> {
  const { version: _, rollout_percentage: __, ...fields } = input
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  await writingFilters(
    session.query(
      `update feature_flag set updated_at = to_timestamp($4), last_modified_by = $5,
         version = stored.version + 1, key = written.key, name = written.name,
         filters = written.filters, active = written.active, deleted = written.deleted,
         ensure_experience_continuity = written.ensure_experience_continuity,
         evaluation_runtime = written.evaluation_runtime, evaluation_tags = written.evaluation_tags,
         is_remote_configuration = written.is_remote_configuration,
         has_encrypted_payloads = written.has_encrypted_payloads,
         bucketing_identifier = written.bucketing_identifier, tags = written.tags
       from feature_flag stored, jsonb_populate_record(stored, $3) written
       where stored.project_id = $1 and stored.id = $2 and feature_flag.id = $2`,
      [project.id, id, JSON.stringify(Object.fromEntries(given)), nowMs / 1000, principal.userId],
    ),
  )
}

async function saveHidden(
  change: Change,
  id: number,
  hidden: HiddenPayloads,
  sealer: Sealer | null,
): Promise<void> {
  assert(sealer !== null || hidden.sent.size === 0, 'payloads that are sent can be sealed')
  if (sealer !== null) await savePayloads(change, id, hidden, sealer)
}

async function note(
  change: Change,
  activity: string,
  before: object,
  after: FeatureFlag,
  isNewPayload: boolean,
): Promise<void> {
  const { session, project, nowMs } = change
  const changes = changesBetween(before, after, featureFlagFields)
  if (isNewPayload) changes.push({ field: 'payloads', before: redactedPayload, after: redactedPayload })
  if (changes.length === 0) return
  const organizationId = project.organization.id
  const projectId = project.id
  const entry = { organizationId, projectId, activity, scope: 'FeatureFlag', itemId: after.id, changes }
  await recordActivity(session, change, entry, nowMs)
}
