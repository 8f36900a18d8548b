import t from 'tap'
import { uuidOf } from './captured.ts'
import { MemoryStore } from './memory-store.ts'

t.test('a first event makes a person (67)', async (t) => {
  const store = new MemoryStore()
  store.send([{ event: 'e', distinct_id: 'user-1', uuid: uuidOf(1), timestamp: '2024-05-01T11:00:00Z' }])
  t.same(store.person('user-1'), {
    uuid: '6931a681-6e90-500d-8294-14582dcc2e3f',
    distinctIds: ['user-1'],
    properties: { $creator_event_uuid: '00000000-0000-7000-8000-000000000001' },
    isIdentified: false,
    version: 0,
    createdAt: '2024-05-01T11:00:00.000Z',
  })
})
