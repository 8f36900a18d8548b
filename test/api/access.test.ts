import t from 'tap'
import { accessOf, isGranted } from '../../src/api/access.ts'

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
