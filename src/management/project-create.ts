// POST /api/organizations/:organization_id/projects/: a project in an organization; its maker is taken to it.

import { makeKey } from '../api/keys.ts'
import type { Principal } from '../api/principal.ts'
import { makeUuidV7 } from '../lib/uuid.ts'
import type { Session } from '../postgres/pool.ts'
import type { ProjectInput } from './project-fields.ts'
import { writeProject } from './project-rows.ts'

interface NewProject {
  readonly organizationId: string
  readonly principal: Pick<Principal, 'userId' | 'email'>
  /** Checked. */
  readonly input: ProjectInput
  /** Where the maker is, when that is known. */
  readonly weekStart: 0 | 1 | null
  readonly nowMs: number
}

/** Mail services of everybody: an address there says nothing about a company. */
const publicMailHosts = new Set([
  'gmail.com',
  'googlemail.com',
  'hotmail.com',
  'icloud.com',
  'live.com',
  'outlook.com',
  'proton.me',
  'protonmail.com',
  'yahoo.com',
])

/** Makes a project and returns its id. */
export async function createProject(session: Session, project: NewProject): Promise<number> {
  const { organizationId, principal, input, weekStart, nowMs } = project
  const { rows } = await session.query<{ id: number }>(
    `insert into project (uuid, organization_id, api_token, created_at, updated_at)
     values ($1, $2, $3, to_timestamp($4), to_timestamp($4)) returning id`,
    [makeUuidV7(nowMs), organizationId, makeKey('phc_'), nowMs / 1000],
  )
  const { id } = rows[0]! // an insert that returns has one row
  const defaults = {
    test_account_filters: testAccountFilters(principal.email),
    week_start_day: weekStart,
  }
  await writeProject(session, id, { ...defaults, ...input }, nowMs)
  await session.query(
    'update app_user set current_organization_id = $2, current_project_id = $3 where id = $1',
    [principal.userId, organizationId, id],
  )
  return id
}

/** Traffic of one's own: from the developer's machine, and by people of the company. */
export function testAccountFilters(email: string): object[] {
  const host = {
    key: '$host',
    type: 'event',
    value: '^(localhost|127\\.0\\.0\\.1)($|:)',
    operator: 'not_regex',
  }
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  const isCompany = domain.includes('.') && !publicMailHosts.has(domain)
  if (!isCompany) return [host]
  return [{ key: 'email', type: 'person', value: `@${domain}`, operator: 'not_icontains' }, host]
}
