// A project's definitions as Postgres tells them: one JSON text for each project, which is compared, copied to disk and
// read without looking at the tables again.

import type { Session } from '../postgres/pool.ts'
import type {
  CohortDefinition,
  EarlyAccessFeatureDefinition,
  FlagDefinition,
  ProjectDefinitions,
} from './definition.ts'

export interface DefinitionsRow {
  readonly projectId: number
  /** For `parseDefinitions`. */
  readonly text: string
}

/** What the text holds. */
interface StoredDefinitions {
  readonly flags: readonly FlagDefinition[]
  readonly cohorts: readonly CohortDefinition[]
  readonly groupTypes: readonly { readonly index: number; readonly name: string }[]
  readonly earlyAccessFeatures: readonly EarlyAccessFeatureDefinition[]
}

const selectDefinitions = `
  select project.id as "projectId", json_build_object(
    'flags', array(
      select json_build_object('id', id, 'key', key, 'name', name, 'active', active, 'version', version,
        'filters', filters, 'ensureExperienceContinuity', ensure_experience_continuity,
        'evaluationRuntime', evaluation_runtime, 'evaluationTags', evaluation_tags,
        'isRemoteConfiguration', is_remote_configuration, 'hasEncryptedPayloads', has_encrypted_payloads,
        'bucketingIdentifier', bucketing_identifier)
      from feature_flag where project_id = project.id and not deleted order by id),
    'cohorts', array(
      select json_build_object('id', id, 'isStatic', is_static, 'properties', filters -> 'properties')
      from cohort where project_id = project.id and not deleted order by id),
    'groupTypes', array(
      select json_build_object('index', type_index, 'name', name)
      from group_type where project_id = project.id order by type_index),
    'earlyAccessFeatures', array(
      select json_build_object('id', feature.id, 'name', feature.name, 'description', feature.description,
        'stage', feature.stage, 'documentationUrl', feature.documentation_url, 'flagKey', flag.key)
      from early_access_feature feature
      left join feature_flag flag on flag.id = feature.flag_id and not flag.deleted
      where feature.project_id = project.id order by feature.created_at, feature.id))::text as text
  from project
  where $1::integer[] is null or project.id = any($1)
  order by project.id`

/** Loads the definitions of some projects, or of all, as they are at one moment. A project that is not has no row. */
export async function loadDefinitions(
  session: Session,
  projectIds: readonly number[] | null,
): Promise<DefinitionsRow[]> {
  return (await session.query<DefinitionsRow>(selectDefinitions, [projectIds])).rows
}

/** Reads the text of a row. */
export function parseDefinitions(text: string): ProjectDefinitions {
  const stored = JSON.parse(text) as StoredDefinitions // made by the statement above
  return {
    flags: stored.flags,
    cohorts: new Map(stored.cohorts.map((cohort) => [cohort.id, cohort])),
    groupTypes: new Map(stored.groupTypes.map(({ index, name }) => [index, name])),
    earlyAccessFeatures: stored.earlyAccessFeatures,
  }
}
