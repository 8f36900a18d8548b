// What the lists of the scenario hold: an organization with a lot of everything, put straight into the tables.

import { hashKey } from '../src/api/keys.ts'
import type { Postgres } from '../src/postgres/pool.ts'

export interface ListedPath {
  readonly name: string
  readonly path: string
  /** Rows of the whole list. */
  readonly count: number
}

const keysCount = 60
const many = 10_000
const projects = 1_000
const exportId = '00000000-0000-4000-8000-00000000e001'

/** Every list, by the path of its pages. */
export function listedPaths(projectId: number): ListedPath[] {
  const [ours, project] = ['/api/organizations/@current', `/api/projects/${projectId}`]
  return [
    { name: 'members', path: `${ours}/members/`, count: many },
    { name: 'invites', path: `${ours}/invites/`, count: many },
    { name: 'projects', path: `${ours}/projects/`, count: projects },
    { name: 'all projects', path: '/api/projects/', count: projects },
    { name: 'organizations', path: '/api/organizations/', count: 1 },
    { name: 'domains', path: `${ours}/domains/`, count: projects },
    { name: 'activity', path: `${ours}/activity/`, count: many },
    { name: 'batch exports', path: `${ours}/batch_exports/`, count: projects },
    { name: 'batch exports of a project', path: `${project}/batch_exports/`, count: projects },
    { name: 'runs', path: `${ours}/batch_exports/${exportId}/runs/`, count: many },
    { name: 'backfills', path: `${ours}/batch_exports/${exportId}/backfills/`, count: projects },
    { name: 'persons', path: `${project}/persons/`, count: many },
    { name: 'groups', path: `${project}/groups/?group_type_index=0`, count: many },
    { name: 'feature flags', path: `${project}/feature_flags/`, count: 2_000 },
    { name: 'cohorts', path: `${project}/cohorts/`, count: 2_000 },
    { name: 'early access features', path: `${project}/early_access_feature/`, count: 500 },
    { name: 'flag activity', path: `${project}/feature_flags/activity/`, count: 5_000 },
  ]
}

/** Fills the organization of the first project, and returns keys of some of its owners. */
export async function fillLists(postgres: Postgres, projectId: number): Promise<string[]> {
  const { rows } = await postgres.query<{ organization_id: string }>(
    'select organization_id from project where id = $1',
    [projectId],
  )
  const organizationId = rows[0]!.organization_id // bootstrap has made it
  await fillOrganization(postgres, organizationId)
  await fillProject(postgres, projectId, organizationId)
  await fillExports(postgres, projectId)
  // In use already: that a key is used is written once an hour, by the request that happens to come then.
  const keys = Array.from({ length: keysCount }, (_, index) => `phx_bench_${index}`)
  await postgres.query(
    `insert into personal_api_key (id, user_id, label, secure_value, mask_value, scopes, last_used_at)
     select 'bench-' || hash, membership.user_id, 'bench', hash, 'phx_...', '{*}', now()
     from unnest($1::text[]) with ordinality as key (hash, place)
     join (select user_id, row_number() over (order by user_id desc) as place from membership
           where level = 15) membership using (place)`,
    [keys.map(hashKey)],
  )
  return keys
}

async function fillOrganization(postgres: Postgres, organizationId: string): Promise<void> {
  await postgres.query(
    `with made as (
       insert into app_user (uuid, distinct_id, email, first_name, current_organization_id)
       select gen_random_uuid(), 'member-' || n, 'member-' || n || '@spate.example', 'Name ' || n % 997, $1
       from generate_series(2, ${many}) n returning id
     ), keys as (
       insert into personal_api_key (id, user_id, label, secure_value, mask_value, scopes, last_used_at)
       select 'key-' || id, id, 'key', 'none-' || id, 'phx_...', '{*}', now() from made
     )
     insert into membership (id, organization_id, user_id, level, joined_at)
     select gen_random_uuid(), $1, id, case when id % 100 = 0 then 15 else 1 end, now() - id * interval '1 minute'
     from made`,
    [organizationId],
  )
  await postgres.query(
    `insert into organization_invite (id, organization_id, target_email, token_hash, created_by, created_at,
       updated_at)
     select gen_random_uuid(), $1, 'invited-' || n || '@spate.example', 'none-' || n,
       (select min(user_id) from membership), now() - n * interval '1 second', now()
     from generate_series(1, ${many}) n`,
    [organizationId],
  )
  await postgres.query(
    `insert into project (uuid, organization_id, api_token, name)
     select gen_random_uuid(), $1, 'phc_' || n, 'Project ' || n from generate_series(2, ${projects}) n`,
    [organizationId],
  )
  await postgres.query(
    `insert into organization_domain (id, organization_id, domain, verification_challenge, created_at, updated_at)
     select gen_random_uuid(), $1, n || '.spate.example', 'challenge', now(), now()
     from generate_series(1, ${projects}) n`,
    [organizationId],
  )
}

async function fillProject(postgres: Postgres, projectId: number, organizationId: string): Promise<void> {
  const properties = `jsonb_build_object('email', n || '@example.com', 'plan', 'pro', 'text', repeat('x', 300))`
  await postgres.query(
    `with made as (
       insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes)
       select $1, gen_random_uuid(), now() - n * interval '1 second', true, 1, ${properties}, 360
       from generate_series(1, ${many}) n returning uuid
     )
     insert into person_distinct_id (project_id, distinct_id, person_uuid)
     select $1, 'id-' || m || '-' || uuid, uuid from made, generate_series(1, 2) m`,
    [projectId],
  )
  await postgres.query(
    `insert into project_group (project_id, type_index, key, created_at, version, properties, properties_bytes)
     select $1, 0, 'group-' || n, now() - n * interval '1 second', 1, ${properties}, 360
     from generate_series(1, ${many}) n`,
    [projectId],
  )
  await postgres.query(
    `insert into feature_flag (project_id, key, filters, created_by)
     select $1, 'flag-' || n, '{"groups": [{"properties": [], "rollout_percentage": 50}]}',
       (select min(user_id) from membership) from generate_series(1, 2000) n`,
    [projectId],
  )
  await postgres.query(
    `with made as (
       insert into cohort (project_id, name, is_static, filters)
       select $1, 'cohort ' || n, true, '{}' from generate_series(1, 2000) n returning id
     ), someone as (select uuid from person where project_id = $1 limit 50)
     insert into cohort_person (project_id, cohort_id, person_uuid) select $1, id, uuid from made, someone`,
    [projectId],
  )
  await postgres.query(
    `insert into early_access_feature (id, project_id, flag_id, name, stage)
     select gen_random_uuid(), $1, id, key, 'beta' from feature_flag order by id limit 500`,
    [projectId],
  )
  await postgres.query('delete from organization_activity')
  await postgres.query(
    `insert into organization_activity (id, organization_id, project_id, user_id, activity, scope, item_id, detail,
       created_at)
     select gen_random_uuid(), $1, $2, (select min(user_id) from membership), 'updated',
       case when n % 2 = 0 then 'FeatureFlag' else 'Project' end,
       ((select min(id) from feature_flag) + n % 2000)::text,
       '{"changes": [{"field": "name", "before": "a", "after": "b"}]}', now() - n * interval '1 second'
     from generate_series(1, ${many}) n`,
    [organizationId, projectId],
  )
}

async function fillExports(postgres: Postgres, projectId: number): Promise<void> {
  await postgres.query(
    `insert into batch_export (id, project_id, name, destination_type, destination_config, interval, paused, created_at,
       last_updated_at)
     select case when n = 1 then $2::uuid else gen_random_uuid() end, $1, 'export ' || n, 'NoOp', '{}', 'hour', true,
       now() - n * interval '1 second', now() from generate_series(1, ${projects}) n`,
    [projectId, exportId],
  )
  await postgres.query(
    `insert into batch_export_run (id, project_id, batch_export_id, status, created_at, last_updated_at, finished_at)
     select gen_random_uuid(), $1, id, 'Completed', now() - n * interval '1 hour', now(), now()
     from batch_export, generate_series(1, 20) n where id <> $2`,
    [projectId, exportId],
  )
  await postgres.query(
    `with made as (
       insert into batch_export_backfill (id, project_id, batch_export_id, status, total_runs, created_at,
         last_updated_at, finished_at)
       select gen_random_uuid(), $1, $2, 'Completed', 10, now() - n * interval '1 day', now(), now()
       from generate_series(1, ${projects}) n returning id
     )
     insert into batch_export_run (id, project_id, batch_export_id, backfill_id, status, created_at, last_updated_at,
       finished_at)
     select gen_random_uuid(), $1, $2, id, 'Completed', now() - n * interval '1 hour', now(), now()
     from made, generate_series(1, 10) n`,
    [projectId, exportId],
  )
}
