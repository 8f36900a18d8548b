import t from 'tap'
import type { Principal } from '../../src/api/principal.ts'
import { checkLevel, enterOrganization, enterProject } from '../../src/api/tenant.ts'
import { freshPostgres } from '../support/postgres.ts'
import { fillTenants, ids } from './world.ts'

const administrator: Principal = {
  keyId: 'key',
  scopes: ['*'],
  scopedOrganizations: [],
  scopedProjects: [],
  expiresAt: null,
  userId: 2,
  userUuid: '00000000-0000-4000-8000-000000000002',
  email: 'administrator@spate.example',
  currentOrganizationId: ids.ours,
  currentProjectId: ids.ourProject,
}

t.test('enters an organization of the caller with the level held there', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  for (const given of [ids.ours, ids.ours.toUpperCase(), '@current']) {
    t.strictSame(await enterOrganization(postgres, administrator, given), { id: ids.ours, level: 8 })
  }
})

t.test('forbids an organization of others and does not find one that is not', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  await t.rejects(enterOrganization(postgres, administrator, ids.theirs), {
    code: 'permission_denied',
    detail: 'You do not have permission to perform this action.',
  })
  const nowhere = { ...administrator, currentOrganizationId: null }
  const notFound = { code: 'not_found', detail: 'Organization not found.' }
  await t.rejects(enterOrganization(postgres, administrator, ids.nobodys), notFound)
  await t.rejects(enterOrganization(postgres, administrator, 'no-uuid'), notFound)
  await t.rejects(enterOrganization(postgres, nowhere, '@current'), notFound)
})

t.test('does not find the organization itself when it belongs to others', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  t.match(await enterOrganization(postgres, administrator, ids.ours, true), { id: ids.ours })
  for (const given of [ids.theirs, ids.nobodys, 'no-uuid']) {
    await t.rejects(enterOrganization(postgres, administrator, given, true), {
      code: 'not_found',
      detail: 'Not found.',
    })
  }
  const nowhere = { ...administrator, currentOrganizationId: null }
  await t.rejects(enterOrganization(postgres, nowhere, '@current', true), {
    code: 'not_found',
    detail: 'Current organization not found.',
  })
})

t.test('keeps a key to its organizations', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const elsewhere = { ...administrator, scopedOrganizations: [ids.theirs] }
  const detail = `API key does not have access to the requested organization: ID ${ids.ours}.`
  const denied = { code: 'permission_denied', detail }
  await t.rejects(enterOrganization(postgres, elsewhere, ids.ours), denied)
  await t.rejects(enterOrganization(postgres, elsewhere, '@current'), denied)
  await t.rejects(enterProject(postgres, elsewhere, '1'), denied)
  const here = { ...administrator, scopedOrganizations: [ids.ours] }
  t.match(await enterOrganization(postgres, here, ids.ours), { id: ids.ours })
})

t.test('keeps a key to its projects', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const second = { ...administrator, scopedProjects: [2] }
  t.match(await enterProject(postgres, second, '2'), { id: 2 })
  await t.rejects(enterProject(postgres, second, '1'), {
    code: 'permission_denied',
    detail: 'API key does not have access to the requested project: ID 1.',
  })
  await t.rejects(enterOrganization(postgres, second, ids.ours), {
    code: 'permission_denied',
    detail: 'API keys with scoped projects are only supported on project-based endpoints.',
  })
})

t.test('finds a project of the caller and no other', async (t) => {
  const postgres = await freshPostgres(t)
  await fillTenants(postgres)
  const expected = { id: 1, organization: { id: ids.ours, level: 8 } }
  t.strictSame(await enterProject(postgres, administrator, '1'), expected)
  t.strictSame(await enterProject(postgres, administrator, '@current'), expected)
  for (const given of ['3', '99', '2147483648', '99999999999', '-1', '1.0', 'x', '']) {
    await t.rejects(enterProject(postgres, administrator, given), {
      code: 'not_found',
      detail: 'Project not found.',
    })
  }
})

t.test('asks for a level and accepts any above it', async (t) => {
  t.doesNotThrow(() => checkLevel({ id: ids.ours, level: 8 }, 8))
  t.doesNotThrow(() => checkLevel({ id: ids.ours, level: 15 }, 8))
  t.throws(() => checkLevel({ id: ids.ours, level: 1 }, 8), {
    code: 'permission_denied',
    detail: 'Your organization access level is insufficient.',
  })
})
