import fc from 'fast-check'
import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { type Ast, listOf, nodeOf } from '../../src/query/ast.ts'
import { columnNames } from '../../src/query/column-names.ts'
import { parseQuery } from '../../src/query/compile.ts'
import { queries } from './make-query.ts'
import { openWorld } from './world.ts'

/** Names that the query gives, or that are there already. */
const all = null

t.test('calls a column as PostHog does', async (t) => {
  const { runner } = await openWorld(t)
  const rows: [select: string, names: (string | null)[]][] = [
    ['select event, e.event, (timestamp) from events e', ['event', 'event', 'timestamp']],
    ['select properties.plan, properties.$browser, e.properties.a.b', ['plan', '$browser', 'b']],
    ['select person.properties.email, person.created_at, person.id', ['email', 'created_at', 'id']],
    ['select properties.`a, b`, properties."c d"', ['a, b', 'c d']],
    [
      'select event as e, count() n, properties.plan "the plan", *, e.* from events e',
      [all, all, all, all, all],
    ],
    ['select count(), count(*), COUNT( distinct event )', ['count()', 'count(*)', 'COUNT(distinct event)']],
    ["select countIf(event = 'a,b') , 1+1, 'it\\'s'", ["countIf(event = 'a,b')", '1+1', "'it\\'s'"]],
    [
      'select quantile(0.9)(toInt(properties.n)),lower ( event )',
      ['quantile(0.9)(toInt(properties.n))', 'lower (event)'],
    ],
    [
      'select toDate(timestamp) /* from */, -- , where\n  max(\n    timestamp,1\n  )',
      ['toDate(timestamp)', 'max(timestamp, 1)'],
    ],
    [
      "select properties['$browser'], {'a': 1, 'b': [1,2]}",
      ["properties['$browser']", "{'a': 1, 'b': [1, 2]}"],
    ],
    ['select (event), ((lower(event))), (1)+(2)', ['event', 'lower(event)', '(1)+(2)']],
    [
      "select extract(day from timestamp), event is distinct from 'a'",
      ['extract(day from timestamp)', "event is distinct from 'a'"],
    ],
    [
      'select mode() within group (order by event), sum(1) over (order by uuid), 2',
      ['mode() within group (order by event)', 'sum(1) over (order by uuid)', '2'],
    ],
    [
      'select case when 1 = 2 then 3 else (select 1 from events limit 1) end, exists (select 1)',
      ['case when 1 = 2 then 3 else (select 1 from events limit 1) end', 'exists (select 1)'],
    ],
    ['select distinct lower(event), 2 from events', ['lower(event)', '2']],
    ['select distinct on (lower(event), uuid) upper(event), 2 from events', ['upper(event)', '2']],
    ['select all 1, max(columns(*)) from events', ['1', all]],
    ['with a as (select 1 + 1, 2) select 3 + 3 from a', ['3 + 3']],
    ['(with a as (select 1 + 1, 2) select 3 + 3 from a)', ['3 + 3']],
    ['((select 1 + 1) union all (select 2, 3)) union all select 4', ['1 + 1']],
    ['select 1 + 1 union all select 2 + 2 order by 1', ['1 + 1']],
    ['select 1 + 1 union by name select 2 + 2', []],
    ['from events select 1 + 1, event where event = 2', ['1 + 1', 'event']],
    ['from events', [all]],
    ['select 1 + 1, event, from events', ['1 + 1', 'event']],
    ['select 1 limit 2', ['1']],
  ]
  for (const [select, names] of rows) {
    t.strictSame(columnNames(select, await parseQuery(runner, select)), names, select)
  }
})

t.test('finds the text of every expression, whatever stands around it', async (t) => {
  const { runner } = await openWorld(t)
  let read = 0
  const property = fc.asyncProperty(queries, async (text) => {
    let statement: Ast
    try {
      statement = await parseQuery(runner, text)
    } catch (error) {
      if (!isServiceError(error, 'invalid_input')) throw error
      return
    }
    if (statement.type !== 'SELECT_NODE') return
    read++
    const names = columnNames(text, statement)
    for (const [index, item] of listOf(statement.select_list).map(nodeOf).entries()) {
      const isNamed = item.alias !== '' || item.class === 'STAR' || /columns\(/i.test(text)
      if (!isNamed && names[index] === null) throw new Error(`${text} has no name for its column ${index}`)
    }
  })
  await fc.assert(property, { numRuns: 100 })
  t.ok(read > 20, `${read} were read`)
})
