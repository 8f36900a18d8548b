import t from 'tap'
import { accessOf, isGranted, tenantIn } from '../../src/api/access.ts'

t.test('knows the scope and level of an operation', async (t) => {
  t.strictSame(accessOf('GET', '/api/projects/:project_id/events'), { scope: 'query:read', level: 1 })
})

t.test('fails for an operation without a row', async (t) => {
  for (const path of ['/api/projects/:project_id/secrets', 'toString']) {
    t.throws(() => accessOf('GET', path), { message: /has a row in the access table/ })
  }
  t.throws(() => accessOf('DELETE', '/api/projects/:project_id/events'), { message: /has a row/ })
})

t.test('write includes read, a star everything, an empty list nothing', async (t) => {
  t.equal(isGranted(['project:read'], 'project:read'), true)
  t.equal(isGranted(['project:write'], 'project:read'), true)
  t.equal(isGranted(['project:read'], 'project:write'), false)
  t.equal(isGranted(['query:write'], 'project:read'), false)
  t.equal(isGranted(['*'], 'project:write'), true)
  t.equal(isGranted([], 'project:read'), false)
})

t.test('finds the tenant that a path names', async (t) => {
  const organization = { kind: 'organization', param: 'id', isItself: true }
  t.strictSame(tenantIn('/api/organizations/:id'), organization)
  t.match(tenantIn('/api/organizations/:organization_id/projects/:id'), { param: 'organization_id' })
  t.match(tenantIn('/api/projects/:id'), { kind: 'project', param: 'id', isItself: true })
  t.match(tenantIn('/api/projects/:project_id/events'), { kind: 'project', isItself: false })
  t.equal(tenantIn('/api/organizations'), null)
})
