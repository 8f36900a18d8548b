import t from 'tap'
import { parseQuery, print } from '../../src/query/compile.ts'
import { limitStatement } from '../../src/query/limit.ts'
import { openWorld } from './world.ts'

t.test('asks for one row more than the query says, within what an answer holds', async (t) => {
  const { runner } = await openWorld(t)
  const limited = async (text: string) => {
    const { statement, limit, offset } = limitStatement(await parseQuery(runner, text))
    return [await print(runner, statement), limit, offset]
  }
  t.strictSame(await limited('select 1'), ['SELECT 1 LIMIT 101', 100, 0])
  t.strictSame(await limited('select 1 limit 0'), ['SELECT 1 LIMIT 1', 0, 0])
  t.strictSame(await limited('select 1 offset 7'), ['SELECT 1 LIMIT 101 OFFSET 7', 100, 7])
  t.strictSame(await limited('select 1 limit 50000'), ['SELECT 1 LIMIT 50001', 50_000, 0])
  t.strictSame(await limited('select 1 limit 50001 offset 2'), ['SELECT 1 LIMIT 50001 OFFSET 2', 50_000, 2])
  t.strictSame(await limited('select 1 union all select 2 limit 3'), [
    '(SELECT 1) UNION ALL (SELECT 2) LIMIT 4',
    3,
    0,
  ])
  for (const text of ['select 1 limit (select 1)', 'select 1 limit -1', 'select 1 offset 1e30']) {
    await t.rejects(limited(text), { code: 'invalid_input' }, text)
  }
})
