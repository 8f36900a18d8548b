// Spikes, the whole way: warned of, never refused, and not looked for in history.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event } from './requests.ts'

t.test('a spike is stored and warned of; history of any size is neither a spike nor billable', async (t) => {
  const server = await startServer(t, { env: { SPIKE_EVENTS_PER_SECOND: '10' } })
  const send = async (distinctId: string, count: number, historical: boolean) => {
    const events = Array.from({ length: count }, () => event(distinctId))
    const reply = await server.post('/batch/', { ...batch(...events), historical_migration: historical })
    t.equal(reply.status, 200)
    await server.settled()
  }
  const spikes = async () => {
    const reply = await server.get(`/api/projects/${server.projectId}/ingestion_warnings/`)
    const { results } = JSON.parse(reply.text)
    const warning = results.find(({ reason }: { reason: string }) => reason === 'spike')
    const metric = /^spate_spike_events (\d+)$/m.exec((await server.get('/metrics')).text)?.[1]
    return [warning?.count ?? 0, metric]
  }
  await send('past', 5000, true)
  await send('calm', 1000, false)
  t.same(await spikes(), [0, '0'])
  await send('loud', 1007, false)
  t.same(await spikes(), [7, '7'])
  const usage = JSON.parse((await server.get('/api/organizations/@current/usage/')).text)
  t.match(usage, { billable: 2007, historical: 5000 })
  const list = JSON.parse((await server.get(`/api/projects/1/events/?distinct_id=loud&limit=1000`)).text)
  t.equal(list.results.length, 1000)
  t.type(list.next, 'string')
})
