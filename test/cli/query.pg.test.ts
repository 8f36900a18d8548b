// `spate query` against a running server, in every format.

import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { refusalOf, runQuery } from '../../src/cli/query.ts'
import { loadConfig } from '../../src/config.ts'
import { batch, event } from '../contract/requests.ts'
import { startServer } from '../support/server.ts'

const cli = fileURLToPath(new URL('../../src/cli/spate.js', import.meta.url))
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
    output: 'event   text\n------  ------\nbought  =1,"2"\nviewed\n',
    remark: '',
  })
  t.equal((await run(text, 'csv')).output, 'event,text\r\nbought,"\'=1,""2"""\r\nviewed,\r\n')
  t.equal(
    (await run(text, 'jsonl')).output,
    '{"event":"bought","text":"=1,\\"2\\""}\n{"event":"viewed","text":null}\n',
  )
  t.strictSame(await run('select 1 as a from events limit 1', 'csv'), {
    output: 'a\r\n1\r\n',
    remark: 'only the first 1 rows: add a LIMIT for more\n',
  })
  const twice = 'select event, upper(event), event from events order by event limit 1'
  t.equal((await run(twice, 'csv')).output, 'event,upper(event),event_1\r\nbought,BOUGHT,bought\r\n')
  t.equal(
    (await run(twice, 'jsonl')).output,
    '{"event":"bought","upper(event)":"BOUGHT","event_1":"bought"}\n',
  )
  t.match((await run(twice, 'table')).output, /^event {3}upper\(event\) {2}event\n/)
  await t.rejects(run('select', 'csv'), { code: 'server_refused', detail: /^400 Failed to parse query/ })
})

t.test('writes Parquet into a file, or to whatever stdout is but a terminal', async (t) => {
  const folder = t.testdir()
  const [text, file, piped] = ['text', 'a.parquet', 'b.parquet'].map((name) => join(folder, name)) as string[]
  const spate = (...args: string[]) => {
    const address = ['--url', server.url, '--key', server.personalApiKey, '--project', '1']
    const env = { PATH: process.env.PATH ?? '', DATA_DIR: folder }
    return promisify(execFile)(process.execPath, [cli, 'query', ...args, ...address], {
      encoding: 'buffer',
      env,
    })
  }
  const sql = 'select event, timestamp, properties, properties.text, upper(event) from events order by event'
  const { stdout } = await spate(sql, '--format', 'parquet')
  writeFileSync(piped!, stdout)
  t.equal((await spate(sql, '--format', 'parquet', '--output', file!)).stdout.length, 0)
  t.ok(stdout.equals(readFileSync(file!)))
  const reading = await (await DuckDBInstance.create(':memory:')).connect()
  const read = async (select: string) =>
    (await reading.runAndReadAll(`${select} from '${piped}'`)).getRowsJson()
  t.strictSame(await read('select typeof(event), typeof(timestamp), typeof(properties), event'), [
    ['VARCHAR', 'TIMESTAMP WITH TIME ZONE', 'JSON', 'bought'],
    ['VARCHAR', 'TIMESTAMP WITH TIME ZONE', 'JSON', 'viewed'],
  ])
  t.strictSame(await read('select text, "upper(event)"'), [
    ['=1,"2"', 'BOUGHT'],
    [null, 'VIEWED'],
  ])
  await spate('select 1 as a', '--format', 'csv', '--output', text!)
  t.equal(readFileSync(text!, 'utf8'), 'a\r\n1\r\n')
  await t.rejects(spate('select 1', '--output', join(folder, 'no', 'such')), {
    code: 2,
    stderr: /--output .*ENOENT/,
  })
  await t.rejects(spate('select', '--format', 'parquet', '--output', join(folder, 'none')), { code: 1 })
  t.throws(() => readFileSync(join(folder, 'none')), { code: 'ENOENT' })
  t.match(refusalOf('parquet', true), /--output/)
  t.strictSame([refusalOf('parquet', false), refusalOf('csv', true)], [null, null])
})
