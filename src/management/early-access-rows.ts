// Early access features as the API takes and shows them.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'

const stages = ['draft', 'concept', 'alpha', 'beta', 'general-availability', 'archived'] as const

/** In these persons who opted in get the flag; in the others nobody does for having opted in. */
export const releasedStages: ReadonlySet<string> = new Set(['alpha', 'beta', 'general-availability'])

/** What a caller may write. */
export const earlyAccessInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.Optional(Type.String({ maxLength: 10_000 })),
  stage: Type.Enum([...stages]),
  // Pages make a link of it.
  documentation_url: Type.Optional(Type.String({ maxLength: 800, pattern: '^(https?://\\S+)?$' })),
})

/** Of a new feature only: its flag is made when none is named. */
export const newEarlyAccessInput = Type.Object({
  ...earlyAccessInput.properties,
  feature_flag_id: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
})

export type EarlyAccessInput = Static<typeof earlyAccessInput>
export type NewEarlyAccessInput = Static<typeof newEarlyAccessInput>

export const earlyAccessSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  feature_flag: Type.Union([
    Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      key: Type.String(),
      filters: Type.Object({}, { additionalProperties: true }),
      deleted: Type.Boolean(),
      active: Type.Boolean(),
      ensure_experience_continuity: Type.Boolean(),
      version: Type.Integer(),
    }),
    Type.Null(),
  ]),
  name: Type.String(),
  description: Type.String(),
  stage: Type.String(),
  documentation_url: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})

export type EarlyAccessFeature = Static<typeof earlyAccessSchema>

/** Fields whose changes are told in the audit log. */
export const earlyAccessFields = ['name', 'description', 'stage', 'documentation_url'] as const

/** Selects EarlyAccessFeatures of the project $1. */
export const selectEarlyAccess = `
  select feature.id, feature.name, feature.description, feature.stage, feature.documentation_url,
    feature.created_at,
    case when flag.id is not null then jsonb_build_object('id', flag.id, 'name', flag.name, 'key', flag.key,
      'filters', flag.filters, 'deleted', flag.deleted, 'active', flag.active,
      'ensure_experience_continuity', flag.ensure_experience_continuity, 'version', flag.version)
    end as feature_flag
  from early_access_feature feature left join feature_flag flag on flag.id = feature.flag_id
  where feature.project_id = $1`
