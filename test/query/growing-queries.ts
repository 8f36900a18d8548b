// SQL of a few lines whose results would be of any size.

/** What `text` becomes when it is put into itself `count` times. */
function nested(count: number, text: string, wrap: (inner: string) => string): string {
  return count === 0 ? text : nested(count - 1, wrap(text), wrap)
}

const events = '(select event a from events)'

/** Small queries whose results would be of any size. */
export const growing: readonly string[] = [
  `select ${nested(40, "'a''b'", (inner) => `[${inner}]::varchar`)}`,
  `select ${nested(40, 'event', (inner) => `toString(struct_pack(a := ${inner}))`)} from events`,
  `select ${nested(40, 'event', (inner) => `concat((${inner}, 1), '')`)} from events`,
  `select x from ${nested(20, 'events', (inner) => `(select x::varchar x from ${inner} x)`)}`,
  `select x from ${nested(20, 'events', (inner) => `(select EVENTS::varchar x from ${inner} "Events")`)}`,
  `select a from ${nested(20, '(select 1 a)', (inner) => `(select unnamed_subquery::varchar a from ${inner})`)}`,
  `select a from ${nested(20, events, (inner) => `(select quantile_disc(a, [0.1, 0.9])::varchar a from ${inner})`)}`,
  `select ${nested(40, 'event', (inner) => `regexp_replace(${inner}, '', 'x', 'g')`)} from events`,
  `select ${nested(40, 'event', (inner) => `regexp_replace(${inner}, '.*', '\\\\0\\\\0')`)} from events`,
  `select ${nested(40, 'event', (inner) => `regexp_extract(${inner}, '(.*)', ['a'])::varchar`)} from events`,
  `select ${nested(40, 'event', (inner) => `url_encode(${inner})`)} from events`,
  `select concat_ws(properties${", ''".repeat(100)}) from events`,
  `select concat_ws(properties${', event'.repeat(100)}) from events`,
  `select json_extract(properties, ['$'${", '$'".repeat(100)}]) from events`,
  `select properties -> ['$'${", '$'".repeat(100)}] from events`,
  `select json_keys(properties, ['$'${", '$'".repeat(100)}]) from events`,
  "select json_extract(properties, '$..*') from events",
  "select json_extract_string(properties, '$.*') from events",
  "select json_extract(properties, concat('$..', '*')) from events",
  "select properties ->> '$[*]' from events",
  'select max(properties, 999999) from events',
  'select min(properties, 999999) over () from events',
  'select arg_max(properties, event, 999999) from events',
  'select max_by(properties, event, 999999) from events',
  `select quantile_disc(event, [0.5${', 0.5'.repeat(100)}]) from events`,
  `select regexp_extract(properties, '(.*)', ['a'${", 'a'".repeat(100)}]) from events`,
]
