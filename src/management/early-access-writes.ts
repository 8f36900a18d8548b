// How an early access feature is made, changed and ended. Its flag has a super condition, which goes before all other
// conditions: whoever has opted in, by the person property `$feature_enrollment/<flag key>`, gets the flag, and whoever
// has opted out does not. It is there while the feature is released.

import { ServiceError } from '../errors.ts'
import type { JsonObject } from '../flags/json-value.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import { changesBetween, recordActivity } from './activity.ts'
import { type Change, lockDefinitions } from './definition-writes.ts'
import {
  type EarlyAccessFeature,
  type EarlyAccessInput,
  earlyAccessFields,
  type NewEarlyAccessInput,
  releasedStages,
  selectEarlyAccess,
} from './early-access-rows.ts'
import { changeFeatureFlag, createFeatureFlag, findFeatureFlag } from './feature-flag-writes.ts'

/** Of one project: all of them are in what pages are told. */
const featuresMax = 500
const flagKeyCharsMax = 100

/** Makes a feature with a flag of its own, or of the flag it names. Errors: whatever is wrong with it. */
export async function createEarlyAccess(
  change: Change,
  input: NewEarlyAccessInput,
): Promise<EarlyAccessFeature> {
  const { session, project, nowMs } = change
  await lockDefinitions(change)
  const flagId = input.feature_flag_id ?? null
  const flag = flagId === null ? await makeFlag(change, input.name) : await freeFlag(change, flagId)
  const id = makeUuidV7(nowMs)
  await session.query(
    `insert into early_access_feature
       (id, project_id, flag_id, name, description, stage, documentation_url, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8))`,
    [
      id,
      project.id,
      flag,
      input.name,
      input.description ?? '',
      input.stage,
      input.documentation_url ?? '',
      nowMs / 1000,
    ],
  )
  await checkCount(change)
  await writeSuperCondition(change, flag, releasedStages.has(input.stage))
  const created = await findEarlyAccess(change, id)
  await note(change, 'created', {}, created)
  return created
}

/** Changes what `input` has. */
export async function changeEarlyAccess(
  change: Change,
  id: string,
  input: Partial<EarlyAccessInput>,
): Promise<EarlyAccessFeature> {
  await lockDefinitions(change)
  const before = await findEarlyAccess(change, id)
  const stage = input.stage ?? before.stage
  await change.session.query(
    `update early_access_feature set name = $3, description = $4, stage = $5, documentation_url = $6
     where project_id = $1 and id = $2`,
    [
      change.project.id,
      id,
      input.name ?? before.name,
      input.description ?? before.description,
      stage,
      input.documentation_url ?? before.documentation_url,
    ],
  )
  if (before.feature_flag !== null && releasedStages.has(stage) !== releasedStages.has(before.stage))
    await writeSuperCondition(change, before.feature_flag.id, releasedStages.has(stage))
  const after = await findEarlyAccess(change, id)
  await note(change, 'updated', before, after)
  return after
}

/** Ends a feature. Its flag stays, without the super condition. */
export async function deleteEarlyAccess(change: Change, id: string): Promise<void> {
  await lockDefinitions(change)
  const before = await findEarlyAccess(change, id)
  await change.session.query('delete from early_access_feature where project_id = $1 and id = $2', [
    change.project.id,
    id,
  ])
  if (before.feature_flag !== null) await writeSuperCondition(change, before.feature_flag.id, false)
  await note(change, 'deleted', before, {})
}

/** Errors: not_found. */
export async function findEarlyAccess(
  { session, project }: Pick<Change, 'session' | 'project'>,
  id: string,
): Promise<EarlyAccessFeature> {
  const { rows } = await session.query<EarlyAccessFeature>(`${selectEarlyAccess} and feature.id = $2`, [
    project.id,
    id,
  ])
  if (rows[0] === undefined) throw new ServiceError('not_found')
  return rows[0]
}

/** A flag that is off for everybody who has not opted in. */
async function makeFlag(change: Change, name: string): Promise<number> {
  const key = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, flagKeyCharsMax)
  if (key === '') {
    const detail =
      'No flag key can be made of this name: it needs a letter or a number, or a feature_flag_id.'
    throw new ServiceError('invalid_input', { detail, attr: 'name' })
  }
  const filters = { groups: [{ properties: [], rollout_percentage: 0, variant: null }], payloads: {} }
  const made = { key, name: `Feature Flag for Feature ${name}`, filters }
  const flag = await createFeatureFlag(change, made, null)
  return flag.id
}

/** Errors: invalid_input for a flag that cannot be the feature's. */
async function freeFlag(change: Change, id: number): Promise<number> {
  const refuse = (detail: string): never => {
    throw new ServiceError('invalid_input', { detail, attr: 'feature_flag_id' })
  }
  const { rows } = await change.session.query<{ id: number }>(
    'select id from feature_flag where project_id = $1 and not deleted and id::bigint = $2',
    [change.project.id, id],
  )
  if (rows[0] === undefined) return refuse('Feature Flag with this ID does not exist in this project.')
  const { features, filters } = await findFeatureFlag(change, rows[0].id)
  if (features.length > 0) return refuse('This flag belongs to another early access feature.')
  if ((filters.aggregation_group_type_index ?? null) !== null)
    return refuse('Group-based feature flags are not supported for Early Access Features.')
  return rows[0].id
}

async function writeSuperCondition(change: Change, flagId: number, isReleased: boolean): Promise<void> {
  const { key, filters } = await findFeatureFlag(change, flagId)
  const property = {
    key: `$feature_enrollment/${key}`,
    type: 'person',
    operator: 'exact',
    value: ['true'],
  }
  const superGroups = isReleased ? [{ properties: [property], rollout_percentage: 100 }] : null
  if (superGroups === null && (filters.super_groups ?? null) === null) return
  const written: JsonObject = { ...filters, super_groups: superGroups }
  await changeFeatureFlag(change, flagId, { filters: written }, null)
}

async function checkCount({ session, project }: Change): Promise<void> {
  const { rows } = await session.query<{ count: number }>(
    'select count(*) as count from early_access_feature where project_id = $1',
    [project.id],
  )
  if (rows[0]!.count <= featuresMax) return // an aggregate has one row
  const detail = `This project may have no more than ${featuresMax} early access features.`
  throw new ServiceError('invalid_input', { detail })
}

async function note(
  change: Change,
  activity: string,
  before: Partial<EarlyAccessFeature>,
  after: Partial<EarlyAccessFeature>,
): Promise<void> {
  const changes = changesBetween(before, after, earlyAccessFields)
  if (changes.length === 0) return
  const organizationId = change.project.organization.id
  const itemId = String(after.id ?? before.id)
  const projectId = change.project.id
  const entry = { organizationId, projectId, activity, scope: 'EarlyAccessFeature', itemId, changes }
  await recordActivity(change.session, change, entry, change.nowMs)
}
