// Monthly quotas and usage, the whole way: what is counted, and what that means for capture.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { batch, event } from './requests.ts'

const server = await startServer(t)

async function send(distinctId: string, count: number, historical = false): Promise<void> {
  const events = Array.from({ length: count }, () => event(distinctId))
  const reply = await server.post('/batch/', { ...batch(...events), historical_migration: historical })
  t.equal(reply.status, 200)
  t.equal(reply.text, '{"status":"Ok"}')
  await server.settled()
}

const stored = async (distinctId: string) => (await server.storedEvents({ distinct_id: distinctId })).length

async function setQuota(quota: number | null): Promise<void> {
  const reply = await fetch(`${server.url}/api/projects/@current/`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${server.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ monthly_event_quota: quota }),
  })
  t.equal(reply.status, 200)
}

async function droppedCount(): Promise<number> {
  const metrics = (await server.get('/metrics')).text
  return Number(/spate_events_dropped_total{reason="over_quota"} (\d+)/.exec(metrics)?.[1] ?? 0)
}

t.test('over its quota a project stores nothing more, answers 200, and says so (case 93)', async (t) => {
  await setQuota(3)
  await send('history', 10, true)
  await send('first', 2)
  await send('second', 2)
  t.same([await stored('first'), await stored('second')], [2, 2])
  // The quota is known to be used up within a second of the events being counted.
  await until(async () => {
    await send('probe', 1)
    return (await droppedCount()) > 0
  })
  const probes = await stored('probe')

  await send('late', 5)
  await send('history', 1, true)

  t.same([await stored('late'), await stored('probe'), await stored('history')], [0, probes, 11])
  const reply = await server.get(`/api/projects/${server.projectId}/ingestion_warnings/`)
  const { results } = JSON.parse(reply.text)
  const warning = results.find(({ reason }: { reason: string }) => reason === 'over_quota')
  t.match(warning, {
    type: 'drop',
    count: await droppedCount(),
    sample: { detail: "the project's monthly quota is used up" },
  })

  const asked = { api_key: server.projectApiKey, distinct_id: 'late' }
  const decided = JSON.parse((await server.post('/decide/?v=3', asked)).text)
  t.match(decided, { featureFlags: {}, quotaLimited: ['feature_flags'] })

  const usage = JSON.parse((await server.get('/api/organizations/@current/usage/')).text)
  t.match(usage, { billable: 4 + probes, historical: 11, projects: [{ monthly_event_quota: 3 }] })

  await setQuota(null)
  await until(async () => {
    await send('again', 1)
    return (await stored('again')) > 0
  })
})
