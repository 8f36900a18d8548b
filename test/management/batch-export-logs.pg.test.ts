import t from 'tap'
import { jsonOf } from '../api/world.ts'
import { makeExport, openExportWorld } from './batch-export-world.ts'

t.test('shows the log newest first, by level, text, time and run', async (t) => {
  const world = await openExportWorld(t)
  const path = await makeExport(world)
  const id = path.split('/').at(-2)
  await world.postgres.query(
    `insert into batch_export_log (project_id, batch_export_id, instance_id, level, message, timestamp)
     select 1, $1, 'run ' || number % 2, (array['INFO', 'ERROR', 'DEBUG'])[1 + number % 3], 'Message %_' || number,
       '2024-05-01T12:00:00Z'::timestamptz + make_interval(secs => number)
     from generate_series(0, 99) as number`,
    [id],
  )
  const ask = async (query: string) => jsonOf(await world.get(`${path}logs/?${query}`))
  const messages = async (query: string) =>
    (await ask(query)).results.map((entry: { message: string }) => entry.message)
  const page = await ask('limit=1')
  t.strictSame(page, {
    count: 100,
    next: `https://spate.example${path}logs/?limit=1&offset=1`,
    previous: null,
    results: [
      {
        log_source_id: id,
        instance_id: 'run 1',
        timestamp: '2024-05-01T12:01:39Z',
        level: 'INFO',
        message: 'Message %_99',
      },
    ],
  })
  t.equal((await ask('')).results.length, 50)
  t.equal((await ask('limit=500')).results.length, 100)
  t.equal((await ask('level=error')).count, 33)
  t.equal((await ask('level=error,%20Debug')).count, 66)
  t.strictSame(await messages('search=message%20%25_42'), ['Message %_42'])
  t.strictSame(await messages('after=2024-05-01T12:01:37Z'), ['Message %_99', 'Message %_98'])
  t.strictSame(await messages('before=2024-05-01T12:00:02Z'), ['Message %_1', 'Message %_0'])
  t.equal((await ask('instance_id=run%201')).count, 50)
  t.match(await ask('limit=501'), { code: 'max_value', attr: 'limit' })
  t.match(await ask('limit=0'), { code: 'min_value', attr: 'limit' })
  t.match(await ask('level=loud'), {
    code: 'invalid_choice',
    attr: 'level',
    detail: '"LOUD" is not a valid choice.',
  })
  t.match(await ask('after=yesterday'), { code: 'invalid_input', attr: 'after' })
})
