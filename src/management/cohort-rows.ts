// Cohorts as the API takes and shows them.

import type { Static } from 'typebox'
import { Type } from '../api/schema.ts'
import { userJson, userSchema } from './user-rows.ts'

const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
})

/** What a caller may write. */
export const cohortInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 400 }),
  description: Type.Optional(Type.String({ maxLength: 1_000 })),
  filters: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      ...anyObject,
      description: '{properties: {type: AND or OR, values: […]}} of a cohort that is not static.',
    }),
  ),
  is_static: Type.Optional(Type.Boolean({ description: 'A list of persons; cannot be changed afterwards.' })),
  deleted: Type.Optional(Type.Boolean({ description: 'True deletes the cohort, false restores it.' })),
})

export type CohortInput = Static<typeof cohortInput>

export const cohortSchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  filters: anyObject,
  is_static: Type.Boolean(),
  count: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'Members: of a static cohort now, of any other when they were counted last; null before that.',
  }),
  is_calculating: Type.Boolean({ description: 'It has changed since it was counted.' }),
  last_calculation: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  deleted: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  created_by: Type.Union([userSchema, Type.Null()]),
})

export type Cohort = Static<typeof cohortSchema>

/** Fields whose changes are told in the audit log. */
export const cohortFields = ['name', 'description', 'filters', 'is_static', 'deleted'] as const

/** Selects Cohorts of the project $1. */
export const selectCohorts = `
  select id, name, description, filters, is_static,
    case when is_static then
      (select count(*) from cohort_person where project_id = $1 and cohort_id = cohort.id) else counted.count
      end as count,
    not is_static and not deleted and (counted_at is null or counted_at < updated_at) as is_calculating,
    counted_at as last_calculation, deleted, created_at,
    (select ${userJson} from app_user where app_user.id = cohort.created_by) as created_by
  from cohort left join lateral (
    select count, counted_at from cohort_count where cohort_count.cohort_id = cohort.id) as counted on true
  where project_id = $1`
