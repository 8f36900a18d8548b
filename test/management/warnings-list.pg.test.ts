import t from 'tap'
import { openWorld } from '../api/world.ts'

function remark(reason: string, count: number) {
  return { reason, count, sample: { event: 'e', distinctId: 'd', detail: 'why' } }
}

t.test('lists what is stored and what is still being counted, the latest first', async (t) => {
  const world = await openWorld(t)
  world.warnings.record(1, 'drop', [remark('uuid_invalid', 2)])
  await world.warnings.flush()
  world.clock.ms += 1000
  world.warnings.record(1, 'warning', [remark('timestamp_missing', 1)])
  world.warnings.record(2, 'drop', [remark('uuid_invalid', 7)])
  const reply = await world.get('/api/projects/1/ingestion_warnings/')
  t.equal(reply.status, 200)
  const sample = { event: 'e', distinct_id: 'd', detail: 'why' }
  t.strictSame(JSON.parse(reply.text), {
    count: 2,
    next: null,
    previous: null,
    results: [
      {
        type: 'warning',
        reason: 'timestamp_missing',
        count: 1,
        first_seen: '2024-05-01T12:00:01Z',
        last_seen: '2024-05-01T12:00:01Z',
        sample,
      },
      {
        type: 'drop',
        reason: 'uuid_invalid',
        count: 2,
        first_seen: '2024-05-01T12:00:00Z',
        last_seen: '2024-05-01T12:00:00Z',
        sample,
      },
    ],
  })
})

t.test('lists in pages', async (t) => {
  const world = await openWorld(t)
  world.warnings.record(1, 'drop', [remark('a', 1), remark('b', 1), remark('c', 1)])
  const reply = JSON.parse((await world.get('/api/projects/1/ingestion_warnings/?limit=1&offset=1')).text)
  t.equal(reply.count, 3)
  t.equal(reply.next, 'https://spate.example/api/projects/1/ingestion_warnings/?limit=1&offset=2')
  t.equal(reply.previous, 'https://spate.example/api/projects/1/ingestion_warnings/?limit=1')
  t.strictSame(
    reply.results.map((row: { reason: string }) => row.reason),
    ['b'],
  )
})
