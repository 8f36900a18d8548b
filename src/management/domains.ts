// /api/organizations/:organization_id/domains/: the domains an organization says are its own.

import { changeOperations } from '../api/change-operations.ts'
import { countedPage } from '../api/counted-page.ts'
import { type Operation, organizationOperation } from '../api/operation.ts'
import { envelopeOf, pageOf, pageQuery } from '../api/pagination.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { type Actor, changesBetween, recordActivity } from './activity.ts'
import {
  afterVerification,
  checkDomainName,
  type Domain,
  type DomainInput,
  domainFields,
  domainInput,
  domainSchema,
  domainSecrets,
  findDomain,
  insertDomain,
  lockDomain,
  openDomain,
  selectDomains,
  writeDomain,
} from './domain-rows.ts'
import { uuidPattern } from './person-detail.ts'

const path = '/api/organizations/:organization_id/domains'
const tag = 'domains'
const noBody = { query: null, body: null } as const

export function domainOperations(sealer: Sealer, clock: Clock): Operation[] {
  return [
    ...readDomains(sealer),
    createDomain(sealer, clock),
    ...changeDomains(sealer, clock),
    deleteDomain(clock),
  ]
}

function readDomains(sealer: Sealer): Operation[] {
  const list = organizationOperation({
    method: 'GET',
    path,
    operationId: 'domains_list',
    summary: 'List the domains of an organization',
    tag,
    query: Type.Object(pageQuery),
    body: null,
    status: 200,
    response: envelopeOf(domainSchema),
    handle: async ({ organization, sql, request, url }) => {
      const select = `${selectDomains} where organization_id = $1`
      const page = pageOf(request.query)
      const list = { select, params: [organization.id], order: 'domain', url, page }
      const listed = await countedPage<Domain>(sql, list)
      return { ...listed, results: listed.results.map((row) => openDomain(sealer, row)) }
    },
  })
  const retrieve = organizationOperation({
    ...noBody,
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'domains_retrieve',
    summary: 'Retrieve a domain',
    tag,
    status: 200,
    response: domainSchema,
    handle: ({ sql, params: { id = '' } }) => findDomain(sql, sealer, id),
  })
  return [list, retrieve]
}

function createDomain(sealer: Sealer, clock: Clock): Operation {
  return organizationOperation({
    method: 'POST',
    path,
    operationId: 'domains_create',
    summary: 'Add a domain; single sign-on is set once it is verified',
    tag,
    query: null,
    body: domainInput,
    status: 201,
    response: domainSchema,
    handle: ({ organization, sql, body, ...actor }) => {
      const { jit_provisioning_enabled, sso_enforcement, ...input } = body
      checkDomainName(input.domain)
      return sql.transaction(async (session) => {
        const nowMs = clock.nowMs()
        const id = await insertDomain(session, organization.id, input.domain, nowMs)
        await writeDomain(session, sealer, id, input, nowMs)
        const created = await findDomain(session, sealer, id)
        await record(session, actor, organization.id, 'created', null, created, nowMs)
        return created
      })
    },
  })
}

function changeDomains(sealer: Sealer, clock: Clock): Operation[] {
  const change = async (
    session: Session,
    actor: Actor,
    organizationId: string,
    id: string,
    input: Partial<DomainInput>,
  ): Promise<Domain> => {
    if (input.domain !== undefined) checkDomainName(input.domain)
    const before = await lockDomain(session, sealer, id)
    checkVerified(before, input)
    await writeDomain(session, sealer, id, input, clock.nowMs())
    const after = await findDomain(session, sealer, id)
    await record(session, actor, organizationId, 'updated', before, after, clock.nowMs())
    return after
  }
  return changeOperations(
    {
      input: domainInput,
      name: 'domains',
      put: 'Change a domain; what may be left out stays as it is',
      patch: 'Change some fields of a domain; another name has to be verified again',
    },
    (verb) =>
      organizationOperation({
        ...verb,
        path: `${path}/:id`,
        tag,
        query: null,
        status: 200,
        response: domainSchema,
        handle: ({ organization, sql, params: { id = '' }, body, ...actor }) =>
          sql.transaction((session) => change(session, actor, organization.id, id, body)),
      }),
  )
}

function deleteDomain(clock: Clock): Operation {
  return organizationOperation({
    ...noBody,
    method: 'DELETE',
    path: `${path}/:id`,
    operationId: 'domains_destroy',
    summary: 'Delete a domain',
    tag,
    status: 204,
    response: null,
    handle: ({ organization, sql, params: { id = '' }, ...actor }) =>
      sql.transaction(async (session) => {
        if (!uuidPattern.test(id)) throw new ServiceError('not_found')
        const { rows } = await session.query<{ domain: string }>(
          'delete from organization_domain where id = $1 returning domain',
          [id],
        )
        if (rows[0] === undefined) throw new ServiceError('not_found')
        await record(session, actor, organization.id, 'deleted', { id, ...rows[0] }, { id }, clock.nowMs())
      }),
  })
}

/** Errors: verification_required for a change that a domain nobody has proved may not have. */
function checkVerified(before: Domain, input: Partial<DomainInput>): void {
  if (before.is_verified) return
  for (const field of afterVerification) {
    if (input[field] !== undefined && input[field] !== before[field]) {
      throw new ServiceError('verification_required', { attr: field })
    }
  }
}

async function record(
  session: Session,
  actor: Actor,
  organizationId: string,
  activity: string,
  before: object | null,
  after: { readonly id: string },
  nowMs: number,
): Promise<void> {
  const changes = changesBetween(before ?? {}, after, domainFields, domainSecrets)
  if (activity === 'updated' && changes.length === 0) return
  const entry = { organizationId, activity, scope: 'OrganizationDomain', itemId: after.id, changes }
  await recordActivity(session, actor, entry, nowMs)
}
