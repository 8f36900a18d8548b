// `spate query` against a running server, in every format.

import t from 'tap'
import { runQuery } from '../../src/cli/query.ts'
import { loadConfig } from '../../src/config.ts'
import { batch, event } from '../contract/requests.ts'
import { startServer } from '../support/server.ts'

const server = await startServer(t)

t.before(async () => {
  const events = [
    event('ada', { event: 'viewed' }),
    event('ada', { event: 'bought', properties: { text: '=1,"2"' } }),
  ]
  const reply = await server.post('/batch/', batch(...events))
  if (reply.status !== 200) throw new Error(reply.text)
  await server.settled()
})

t.test('prints tables, CSV and JSON lines', async (t) => {
  const config = loadConfig({ DATA_DIR: t.testdir() })
  const address = { url: server.url, key: server.personalApiKey, project: '1' }
  const run = (text: string, format: 'table' | 'csv' | 'jsonl') =>
    runQuery(config, { sql: text, format, ...address })
  const text = 'select event, properties.text as text from events order by event'
  t.strictSame(await run(text, 'table'), {
    text: 'event   text\n------  ------\nbought  =1,"2"\nviewed\n',
    remark: '',
  })
  t.equal((await run(text, 'csv')).text, 'event,text\r\nbought,"\'=1,""2"""\r\nviewed,\r\n')
  t.equal(
    (await run(text, 'jsonl')).text,
    '{"event":"bought","text":"=1,\\"2\\""}\n{"event":"viewed","text":null}\n',
  )
  t.strictSame(await run('select 1 as a from events limit 1', 'csv'), {
    text: 'a\r\n1\r\n',
    remark: 'only the first 1 rows: add a LIMIT for more\n',
  })
  await t.rejects(run('select', 'csv'), { code: 'server_refused', detail: /^400 Failed to parse query/ })
})
