// Random SQL as an attacker would try it: mostly what is allowed, so that it runs, with names of the store, of files
// and of forbidden functions in every place where a name can stand.

import fc from 'fast-check'
import { allowedNames } from '../../src/query/allowed-functions.ts'
import { translatedNames } from '../../src/query/translated-functions.ts'

/** Every FROM begins with this, so that most columns are there. */
const first = 'events e'
const plainTables = ['persons p', 'groups', 'person_distinct_ids d', 'sessions', 'events', 'a', 'b']
const strangeTables = [
  'main.events',
  'main.event',
  'event',
  'temp.main.copied_person',
  'copied_person',
  'copied_group c',
  's_events',
  's_persons',
  'q_a',
  'temp.copied_distinct_id',
  'memory.main.event',
  "'/etc/passwd'",
  '"/etc/passwd"',
  'duckdb_tables()',
  "read_text('/etc/passwd')",
  'information_schema.tables',
  'unnest([1])',
]
/** Of that table. */
const columns = [
  'event',
  'e.distinct_id',
  'properties',
  'properties.plan',
  'e.properties.plan',
  'person_id',
  'e.team_id',
  'timestamp',
  'person.properties.email',
  'e.person.properties',
  'person.id',
  'group_0.properties.email',
  '$group_0',
  'e.*',
  '*',
  'e',
]
const otherColumns = [
  'id',
  'key',
  'p',
  'p.properties.email',
  'd.distinct_id',
  'x',
  '_person_properties',
  'a',
  'a.*',
  'c1',
]
const strangeColumns = [
  'project_id',
  'born_id',
  'rowid',
  'events',
  'copied_person',
  'main.event.event',
  's_events',
  '$1',
  '?',
  '#1',
]
const literals = [
  '1',
  '0',
  "'x'",
  'null',
  'true',
  "'their secret'",
  '[1, 2]',
  'interval 1 day',
  "'2'",
  '(1, 2)',
  "{'a': 1}",
]
const strangeCalls = [
  'getenv',
  'read_text',
  'query',
  'getvariable',
  'current_setting',
  'repeat',
  'range',
  'list_transform',
  'pragma_version',
]
const binary = ['=', '<>', '<', '||', '+', '*', 'and', 'or', 'is distinct from', 'like', '->>', 'in']
const joins = [
  ', ',
  ' join ',
  ' left join ',
  ' full join ',
  ' natural join ',
  ' cross join ',
  ' positional join ',
  ' semi join ',
]
const types = ['varchar', 'integer', 'json', 'uuid', 'String', 'blob', 'event', 'integer[]']
const setOperations = [' union all ', ' union ', ' except ', ' intersect ', ' union all by name ']
const spaces = [' ', '  ', '\n', '/* -- */', ' -- x\n', '\t']

type Text = fc.Arbitrary<string>

function weighted(...choices: readonly (readonly [weight: number, arbitrary: Text])[]): Text {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

const from = (values: readonly string[]): Text => fc.constantFrom(...values)
const known = [...allowedNames, ...translatedNames].filter((name) => /^\w+$/.test(name))

const leaf = weighted(
  [30, from(columns)],
  [3, from(otherColumns)],
  [1, from(strangeColumns)],
  [8, from(literals)],
)

function expression(depth: number): Text {
  if (depth === 0) return leaf
  const inner = expression(depth - 1)
  const common = from([
    'count',
    'max',
    'min',
    'toString',
    'groupArray',
    'lower',
    'coalesce',
    'uniq',
    'length',
  ])
  return weighted(
    [8, leaf],
    [8, fc.tuple(common, inner).map(([name, x]) => `${name}(${x})`)],
    [
      6,
      fc
        .tuple(from(known), fc.array(inner, { maxLength: 3 }))
        .map(([name, args]) => `${name}(${args.join(', ')})`),
    ],
    [1, fc.tuple(from(strangeCalls), inner).map(([name, x]) => `${name}(${x})`)],
    [4, fc.tuple(inner, from(binary), inner).map(([x, by, y]) => `(${x} ${by} ${y})`)],
    [2, fc.tuple(inner, from(types)).map(([x, type]) => `(${x})::${type}`)],
    [2, select(depth - 1).map((query) => `(${query} limit 1)`)],
    [1, select(depth - 1).map((query) => `exists (${query})`)],
    [1, fc.tuple(inner, inner).map(([x, y]) => `case when ${x} is null then ${y} end`)],
    [1, inner.map((x) => `max(${x}) over (partition by e.team_id)`)],
  )
}

function joined(depth: number): Text {
  const right = weighted(
    [12, from(plainTables)],
    [2, from(strangeTables)],
    [4, depth === 0 ? from(plainTables) : select(depth - 1).map((query) => `(${query}) as a(c1)`)],
  )
  return fc.tuple(from(joins), right, expression(0)).map(([join, table, on]) => {
    const needsOn = / (?:left |full |semi )?join /.test(join) && !/natural|cross|positional/.test(join)
    return `${join}${table}${needsOn ? ` on ${on} is not null` : ''}`
  })
}

function optional(weight: number, text: Text): Text {
  return weighted([10 - weight, fc.constant('')], [weight, text])
}

function select(depth: number): Text {
  const names = from(['a', 'b', 'events', 's_events', 'copied_person', 'q_a'])
  const inner =
    depth === 0
      ? fc.constant('select event c1 from events')
      : fc.constant(null).chain(() => select(depth - 1))
  const parts = [
    optional(
      2,
      fc.tuple(names, inner).map(([name, query]) => `with ${name} as (${query}) `),
    ),
    fc.tuple(from(spaces), expression(depth)).map(([space, x]) => `select${space}${x}`),
    optional(
      3,
      expression(depth).map((x) => `, ${x} as c1`),
    ),
    weighted([12, fc.constant(` from ${first}`)], [1, from(strangeTables).map((table) => ` from ${table}`)]),
    optional(4, joined(depth)),
    optional(
      3,
      expression(depth).map((x) => ` where ${x} is not null`),
    ),
    optional(4, fc.constant(' group by all')),
    optional(
      2,
      fc.tuple(from(setOperations), inner).map(([by, query]) => `${by}${query}`),
    ),
  ]
  return fc.tuple(...parts).map((texts) => texts.join(''))
}

export const queries: Text = select(2)
