// Persons and sessions taken by a whole server, from capture to the run that says it is complete.

import t from 'tap'
import { batch, event } from '../contract/requests.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

t.test('a backfill takes persons and sessions that came through capture', async (t) => {
  const server = await startServer(t, { nowMs: null })
  const events = [
    event('ada', { event: '$set', $set: { plan: 'free' }, properties: { $session_id: 's1' } }),
    event('ada', { event: '$identify', properties: { $anon_distinct_id: 'device-1', $session_id: 's1' } }),
    event('bob', { event: '$pageview', properties: { $session_id: 's2' } }),
  ]
  t.equal((await server.post('/batch/', batch(...events))).status, 200)
  await server.settled()
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${server.personalApiKey}`, 'content-type': 'application/json' }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    return JSON.parse(await (await fetch(`${server.url}/api/projects/1/batch_exports/${path}`, init)).text())
  }
  for (const [model, count] of [
    ['persons', 3],
    ['sessions', 2],
  ] as const) {
    const destination = { type: 'NoOp', config: {} }
    const { id } = await ask('POST', '', { name: model, model, interval: 'hour', destination })
    const range = { start_at: null, end_at: new Date(Date.now() + 60_000).toISOString() }
    const { backfill_id } = await ask('POST', `${id}/backfills/`, range)
    t.type(backfill_id, 'string', model)
    let run = { status: '', latest_error: null, records_completed: null, records_total_count: null }
    await until(async () => {
      run = (await ask('GET', `${id}/runs/`)).results[0] ?? run
      return !['', 'Starting', 'Running'].includes(run.status)
    })
    t.match(run, {
      status: 'Completed',
      latest_error: null,
      records_completed: count,
      records_total_count: count,
    })
  }
})
