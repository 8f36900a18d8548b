import t from 'tap'
import { bornIdOf } from '../../src/identity/born-id.ts'

t.test('derives the uuids that PostHog derives', async (t) => {
  t.equal(bornIdOf(1, 'user-1'), '6931a681-6e90-500d-8294-14582dcc2e3f')
  t.equal(bornIdOf(2, 'anon-123'), 'ff4e6948-6b07-5c0c-80eb-8cb8a9a177ba')
  t.equal(bornIdOf(2, 'user@example.com'), '689656f4-631a-57af-9696-0bf9b099affd')
  t.equal(bornIdOf(42, 'üser'), '0efd3065-164c-5867-be25-7a83cd6138ab')
})
