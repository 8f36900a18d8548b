// Projects, below their organization and by their id alone: `/api/organizations/:organization_id/projects/` and
// `/api/projects/`. Both ways lead to the same five things that can be done to a project.

import type { Static } from 'typebox'
import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, organizationOperation, projectOperation, userOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import type { Principal } from '../api/principal.ts'
import { Type } from '../api/schema.ts'
import type { TenantSql } from '../api/tenant-sql.ts'
import { clientIpOf } from '../capture/intake.ts'
import type { GeoipFiles } from '../geoip/database.ts'
import type { Clock } from '../lib/clock.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { changesBetween, recordActivity } from './activity.ts'
import type { liveEventsSigner } from './live-events-token.ts'
import { checkGuarded, checkProject, mergeSettings } from './project-checks.ts'
import { createProject } from './project-create.ts'
import { deleteProjects, type ProjectDeletions } from './project-deletions.ts'
import {
  type ProjectInput,
  projectFields,
  projectInput,
  projectSchema,
  projectSecrets,
  shortProjectSchema,
} from './project-fields.ts'
import {
  findProject,
  lockProject,
  type ProjectRow,
  projectIdOf,
  type ShortProjectRow,
  selectShortProjects,
  writeProject,
} from './project-rows.ts'
import { weekStartAt } from './week-start.ts'

export interface ProjectsOptions {
  readonly outbound: Pick<Outbound, 'checkUrl'>
  readonly deletions: Pick<ProjectDeletions, 'carryOut'>
  readonly signLiveEvents: ReturnType<typeof liveEventsSigner>
  readonly geoip: GeoipFiles | null
  readonly clock: Clock
}

type Project = Static<typeof projectSchema>

/** Who does it to which project, seen through the walls of the request. */
interface Doer {
  readonly principal: Principal
  readonly address: string
  readonly sql: TenantSql
  readonly organization: { readonly id: string }
}

/** What both ways have in common but their paths. */
const common = { tag: 'projects', query: null, status: 200, response: projectSchema } as const
const summary = 'Change fields of a project'
const changes = { input: projectInput, put: summary, patch: summary } as const

export function projectOperations(options: ProjectsOptions): Operation[] {
  const { geoip, clock } = options
  const nested = '/api/organizations/:organization_id/projects'
  const acts = projectActs(options)
  const list = organizationOperation({
    method: 'GET',
    path: nested,
    operationId: 'organizations_projects_list',
    summary: 'List projects of an organization',
    tag: 'projects',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(shortProjectSchema),
    handle: ({ organization, sql, request, url }) =>
      countedPage<ShortProjectRow>(sql, {
        select: `${selectShortProjects} where organization_id = $1`,
        params: [organization.id],
        order: 'id',
        url,
        page: pageOf(request.query),
      }),
  })
  const create = organizationOperation({
    ...common,
    method: 'POST',
    path: nested,
    operationId: 'organizations_projects_create',
    summary: 'Create a project',
    status: 201,
    body: projectInput,
    handle: async ({ body, ...doer }) => {
      const input = await acts.check(body)
      const { principal, organization, sql, request } = doer
      const weekStart = weekStartAt(geoip, clientIpOf(request))
      const nowMs = clock.nowMs()
      const made = await sql.transaction(async (session) => {
        const organizationId = organization.id
        const id = await createProject(session, { organizationId, principal, input, weekStart, nowMs })
        const project = await findProject(session, id)
        const changes = changesBetween({}, project, projectFields, projectSecrets)
        const entry = {
          organizationId,
          activity: 'created',
          scope: 'Project',
          itemId: id,
          projectId: id,
          changes,
        }
        await recordActivity(session, doer, entry, nowMs)
        return project
      })
      return acts.show(made)
    },
  })
  return [list, create, ...nestedOperations(`${nested}/:id`, acts), ...ownOperations(acts)]
}

function nestedOperations(path: string, acts: ProjectActs): Operation[] {
  const idOf = (doer: Doer, { id = '' }: Readonly<Record<string, string>>): Promise<number> =>
    projectIdOf(doer.sql, id, doer.principal)
  const retrieve = organizationOperation({
    ...common,
    method: 'GET',
    path,
    operationId: 'organizations_projects_retrieve',
    summary: 'Retrieve a project',
    body: null,
    handle: async ({ params, ...doer }) => acts.retrieve(doer, await idOf(doer, params)),
  })
  const updates = changeOperations({ ...changes, name: 'organizations_projects' }, (verb) =>
    organizationOperation({
      ...common,
      ...verb,
      path,
      handle: async ({ params, body, ...doer }) => acts.update(doer, await idOf(doer, params), body),
    }),
  )
  const destroy = organizationOperation({
    ...common,
    method: 'DELETE',
    path,
    operationId: 'organizations_projects_destroy',
    summary: 'Delete a project with everything in it',
    body: null,
    status: 204,
    response: null,
    handle: async ({ params, ...doer }) => acts.destroy(doer, await idOf(doer, params)),
  })
  return [retrieve, ...updates, destroy]
}

function ownOperations(acts: ProjectActs): Operation[] {
  const path = '/api/projects/:id'
  const list = userOperation({
    method: 'GET',
    path: '/api/projects',
    operationId: 'projects_list',
    summary: 'List projects of all organizations of the caller',
    tag: 'projects',
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(shortProjectSchema),
    handle: ({ sql, request, url }) =>
      countedPage<ShortProjectRow>(sql, {
        select: selectShortProjects,
        params: [],
        order: 'id',
        url,
        page: pageOf(request.query),
      }),
  })
  const retrieve = projectOperation({
    ...common,
    method: 'GET',
    path,
    operationId: 'projects_retrieve',
    summary: 'Retrieve a project',
    body: null,
    handle: ({ project, ...doer }) =>
      acts.retrieve({ ...doer, organization: project.organization }, project.id),
  })
  const updates = changeOperations({ ...changes, name: 'projects' }, (verb) =>
    projectOperation({
      ...common,
      ...verb,
      path,
      handle: ({ project, body, ...doer }) =>
        acts.update({ ...doer, organization: project.organization }, project.id, body),
    }),
  )
  const destroy = projectOperation({
    ...common,
    method: 'DELETE',
    path,
    operationId: 'projects_destroy',
    summary: 'Delete a project with everything in it',
    body: null,
    status: 204,
    response: null,
    handle: ({ project, ...doer }) =>
      acts.destroy({ ...doer, organization: project.organization }, project.id),
  })
  return [list, retrieve, ...updates, destroy]
}

type ProjectActs = ReturnType<typeof projectActs>

function projectActs({ outbound, deletions, signLiveEvents, clock }: ProjectsOptions) {
  /** Looks names up, so it is done before a transaction begins. */
  const check = async (input: ProjectInput): Promise<ProjectInput> => {
    const checked = checkProject(input)
    const webhook = checked.slack_incoming_webhook
    if (webhook) await outbound.checkUrl(webhook, 'slack_incoming_webhook')
    return checked
  }
  const show = (project: ProjectRow): Project => ({
    ...project,
    live_events_token: signLiveEvents(project, clock.nowMs()),
  })
  const retrieve = async ({ sql }: Doer, id: number): Promise<Project> => show(await findProject(sql, id))
  const update = async (doer: Doer, id: number, body: ProjectInput): Promise<Project> => {
    const { sql, organization } = doer
    await findProject(sql, id)
    const input = await check(body)
    const nowMs = clock.nowMs()
    const changed = await sql.transaction(async (session) => {
      const before = await lockProject(session, id)
      checkGuarded(before, input)
      await writeProject(session, id, mergeSettings(before, input), nowMs)
      const after = await findProject(session, id)
      const changes = changesBetween(before, after, projectFields, projectSecrets)
      const entry = { activity: 'updated', scope: 'Project', itemId: id, projectId: id, changes }
      if (changes.length > 0)
        await recordActivity(session, doer, { ...entry, organizationId: organization.id }, nowMs)
      return after
    })
    return show(changed)
  }
  const destroy = async (doer: Doer, id: number): Promise<void> => {
    const { sql, organization } = doer
    const nowMs = clock.nowMs()
    await sql.transaction(async (session) => {
      const { name } = await lockProject(session, id)
      await deleteProjects(session, [id], nowMs)
      const changes = [{ field: 'name', before: name, after: null }]
      const entry = { activity: 'deleted', scope: 'Project', itemId: id, projectId: id, changes }
      await recordActivity(session, doer, { ...entry, organizationId: organization.id }, nowMs)
    })
    void deletions.carryOut()
  }
  return { check, show, retrieve, update, destroy }
}
