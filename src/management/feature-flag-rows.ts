// Feature flags as the API takes and shows them.

import type { Static, TSchema } from 'typebox'
import { Type } from '../api/schema.ts'
import { listIn, objectIn } from '../flags/json-value.ts'
import { userJson, userSchema } from './user-rows.ts'

const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  description: '{groups, multivariate, payloads, aggregation_group_type_index, super_groups, …}',
})
const tagList = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100 })
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** What a caller may write. Null leaves a field as it is. */
export const featureFlagInput = Type.Object({
  key: Type.String({
    minLength: 1,
    maxLength: 400,
    description: 'Letters, numbers, hyphens and underscores; unique among the flags that are not deleted.',
  }),
  name: Type.Optional(Type.String({ maxLength: 10_000 })),
  filters: Type.Optional(anyObject),
  active: Type.Optional(nullable(Type.Boolean())),
  deleted: Type.Optional(
    nullable(Type.Boolean({ description: 'True deletes the flag, false restores it.' })),
  ),
  version: Type.Optional(
    nullable(Type.Integer({ description: 'The version that was read; 409 when the flag has another one.' })),
  ),
  ensure_experience_continuity: Type.Optional(nullable(Type.Boolean())),
  evaluation_runtime: Type.Optional(nullable(Type.Enum(['server', 'client', 'all']))),
  evaluation_tags: Type.Optional(tagList),
  is_remote_configuration: Type.Optional(nullable(Type.Boolean())),
  has_encrypted_payloads: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'Payloads are stored encrypted, shown as a text that stands for them, and read by remote_config only.',
      }),
    ),
  ),
  bucketing_identifier: Type.Optional(nullable(Type.Enum(['distinct_id', 'device_id']))),
  rollout_percentage: Type.Optional(
    nullable(
      Type.Number({ minimum: 0, maximum: 100, description: 'Of a new flag without `filters.groups`.' }),
    ),
  ),
  tags: Type.Optional(tagList),
})

export type FeatureFlagInput = Static<typeof featureFlagInput>

const nullableUser = nullable(userSchema)
const timestamp = Type.String({ format: 'date-time' })

export const featureFlagSchema = Type.Object({
  id: Type.Integer(),
  key: Type.String(),
  name: Type.String(),
  filters: anyObject,
  active: Type.Boolean(),
  deleted: Type.Boolean(),
  version: Type.Integer(),
  ensure_experience_continuity: Type.Boolean(),
  evaluation_runtime: Type.String(),
  evaluation_tags: Type.Array(Type.String()),
  is_remote_configuration: Type.Boolean(),
  has_encrypted_payloads: Type.Boolean(),
  bucketing_identifier: Type.String(),
  tags: Type.Array(Type.String()),
  rollout_percentage: nullable(
    Type.Number({ description: 'Of a flag with one condition, which is for everyone.' }),
  ),
  is_simple_flag: Type.Boolean(),
  features: Type.Array(anyObject, { description: 'Early access features of this flag.' }),
  created_at: timestamp,
  updated_at: timestamp,
  created_by: nullableUser,
  last_modified_by: nullableUser,
})

export type FeatureFlag = Static<typeof featureFlagSchema>
/** As stored: without what follows from the filters. */
export type FeatureFlagRow = Omit<FeatureFlag, 'rollout_percentage' | 'is_simple_flag'>

/** Fields whose changes are told in the audit log. */
export const featureFlagFields = [
  'key',
  'name',
  'filters',
  'active',
  'deleted',
  'ensure_experience_continuity',
  'evaluation_runtime',
  'evaluation_tags',
  'is_remote_configuration',
  'has_encrypted_payloads',
  'bucketing_identifier',
  'tags',
] as const

const userOf = (column: string): string =>
  `(select ${userJson} from app_user where app_user.id = feature_flag.${column}) as ${column}`

/** Selects FeatureFlagRows of the project $1. */
export const selectFeatureFlags = `
  select id, key, name, filters, active, deleted, version, ensure_experience_continuity, evaluation_runtime,
    evaluation_tags, is_remote_configuration, has_encrypted_payloads, bucketing_identifier, tags, created_at,
    updated_at, ${userOf('created_by')}, ${userOf('last_modified_by')},
    array(select jsonb_build_object('id', feature.id, 'name', feature.name, 'stage', feature.stage)
          from early_access_feature feature where feature.flag_id = feature_flag.id) as features
  from feature_flag where project_id = $1`

/** A flag as it is shown. */
export function featureFlagOf(row: FeatureFlagRow): FeatureFlag {
  const conditions = listIn(row.filters.groups).map((one) => objectIn(one) ?? {})
  const only = conditions.length === 1 ? conditions[0] : undefined
  const isForEveryone = only !== undefined && listIn(only.properties).length === 0
  const percentage =
    isForEveryone && typeof only.rollout_percentage === 'number' ? only.rollout_percentage : null
  const isAboutPersons = (row.filters.aggregation_group_type_index ?? null) === null
  const hasVariants = listIn(objectIn(row.filters.multivariate)?.variants).length > 0
  return {
    ...row,
    rollout_percentage: percentage,
    is_simple_flag: isForEveryone && isAboutPersons && !hasVariants,
  }
}
