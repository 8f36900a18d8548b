import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { batch, event } from '../contract/requests.ts'
import { hostileQueries } from '../query/hostile-queries.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const server = await startServer(t)

t.before(async () => {
  const reply = await server.post(
    '/batch/',
    batch(
      event('anon', { event: 'viewed', properties: { $browser: 'Firefox', n: 1 } }),
      event('ada', { event: '$identify', properties: { $anon_distinct_id: 'anon' } }),
      event('ada', { event: 'bought', properties: { $browser: 'Firefox', n: 2, text: '=1,"2"' } }),
    ),
  )
  if (reply.status !== 200) throw new Error(reply.text)
  await server.settled()
})

async function ask(query: unknown, path = '/api/projects/1/query/') {
  const headers = { authorization: `Bearer ${server.personalApiKey}` }
  const reply = await server.post(path, { query }, headers)
  return { status: reply.status, body: JSON.parse(reply.text) }
}
const sql = (query: string) => ask({ kind: 'HogQLQuery', query })

t.test('answers a query with columns, types and rows', async (t) => {
  const text =
    'select event, properties.$browser as browser, toInt(properties.n) n from events order by n nulls first'
  t.strictSame(await sql(text), {
    status: 200,
    body: {
      columns: ['event', 'browser', 'n'],
      types: [
        ['event', 'String'],
        ['browser', 'String'],
        ['n', 'Int64'],
      ],
      results: [
        ['$identify', null, null],
        ['viewed', 'Firefox', 1],
        ['bought', 'Firefox', 2],
      ],
      hasMore: false,
      limit: 100,
      offset: 0,
      hogql:
        'SELECT "event", properties."$browser" AS browser, toint(properties.n) AS n FROM events ' +
        'ORDER BY n NULLS FIRST',
    },
  })
})

t.test('calls columns as PostHog does, and their names mean nothing in the query', async (t) => {
  const rows: [query: string, columns: string[], results: unknown[][]][] = [
    [
      'select properties.$browser, e.event, count(), person.id is null from events e group by all ' +
        'order by e.event desc limit 1',
      ['$browser', 'event', 'count()', 'person.id is null'],
      [['Firefox', 'viewed', 1, false]],
    ],
    [
      'select event, event, upper(event), upper(event) from events order by event desc limit 1',
      ['event', 'event', 'upper(event)', 'upper(event)'],
      [['viewed', 'viewed', 'VIEWED', 'VIEWED']],
    ],
    // `n` is a property and a column of a subquery here, `event` a column beside a property of that name.
    [
      "select properties.n, n from (select properties, 'x' as n from events) where n = 'x' and properties.n = '1'",
      ['n', 'n'],
      [['1', 'x']],
    ],
    [
      "select properties.event, count() from events where event = 'bought' group by properties.event, event",
      ['event', 'count()'],
      [[null, 1]],
    ],
    [
      'select lower(event), properties.n from events where properties.n is not null ' +
        'order by properties.n, lower(event)',
      ['lower(event)', 'n'],
      [
        ['viewed', '1'],
        ['bought', '2'],
      ],
    ],
    [
      'select properties.n, lower(event) from events group by 1, lower(event) having count() = 1 ' +
        'order by 1 desc limit 1',
      ['n', 'lower(event)'],
      [['2', 'bought']],
    ],
    [
      'select lower(event), event from events union select upper(event), event from events ' +
        'order by event, 1 limit 2',
      ['lower(event)', 'event'],
      [
        ['$IDENTIFY', '$identify'],
        ['$identify', '$identify'],
      ],
    ],
    [
      'select e.person.created_at = f.person.created_at, b.*, 1 + 1 from events e join events f on e.uuid = f.uuid ' +
        "join (select 'b' as a, 2 as c) b on true limit 1",
      ['e.person.created_at = f.person.created_at', 'a', 'c', '1 + 1'],
      [[true, 'b', 2, 2]],
    ],
    ['select a.* from (select count(), event from events group by all) a order by event limit 1', [], []],
  ]
  for (const [query, columns, results] of rows) {
    const { body } = await sql(query)
    if (columns.length > 0) t.strictSame([body.columns, body.results], [columns, results], query)
    else t.equal(body.columns.length, 2, query)
  }
})

t.test('knows whose events they are', async (t) => {
  const { body } = await sql('select count(distinct person_id), count(*), min(timestamp) from events')
  t.strictSame(body.results, [[1, 3, '2024-05-01T12:00:00Z']])
})

t.test('returns a hundred rows, or as many as the query says', async (t) => {
  const { body } = await sql('select event from events order by event limit 1 offset 1')
  t.match(body, { results: [['bought']], hasMore: true, limit: 1, offset: 1 })
  t.match((await sql('select event from events limit 3')).body, { hasMore: false, limit: 3 })
  const cross = Array.from({ length: 5 }, (_, index) => `events e${index}`).join(', ')
  const many = (await sql(`select 1 from ${cross}`)).body
  t.match([many.results.length, many.hasMore, many.limit], [100, true, 100])
  const more = Array.from({ length: 5 }, (_, index) => `events f${index}`).join(', ')
  const most = (await sql(`select 1 from ${cross}, ${more} limit 1000000`)).body
  t.match([most.results.length, most.hasMore, most.limit], [50_000, true, 50_000])
})

t.test('refuses what it cannot take', async (t) => {
  const rows: [query: unknown, detail: string | RegExp, attr: string | null][] = [
    [undefined, 'This field is required.', 'query'],
    [{ kind: 'EventsQuery', query: 'x' }, '"EventsQuery" is not a valid choice.', 'query__kind'],
    [{ kind: 'HogQLQuery', query: '' }, 'This field may not be blank.', 'query__query'],
    [
      { kind: 'HogQLQuery', query: 'selec 1' },
      /^Failed to parse query: syntax error at or near "selec"/,
      null,
    ],
    [{ kind: 'HogQLQuery', query: 'select nothing from events' }, /^Binder Error: .*nothing/, null],
    [
      { kind: 'HogQLQuery', query: 'select * from event' },
      /^Unknown table 'event'. Tables are: events, /,
      null,
    ],
    [{ kind: 'HogQLQuery', query: "select 'x'::integer" }, /^Conversion Error/, null],
    [{ kind: 'HogQLQuery', query: 'select 1 limit -1' }, /whole numbers|cannot be negative/, null],
  ]
  for (const [query, detail, attr] of rows) {
    const { status, body } = await ask(query)
    t.equal(status, 400, JSON.stringify(query))
    t.match(body, { type: 'validation_error', attr, detail })
  }
  const nobody = await server.post('/api/projects/1/query/', {
    query: { kind: 'HogQLQuery', query: 'select 1' },
  })
  t.equal(nobody.status, 401)
  t.equal((await ask({ kind: 'HogQLQuery', query: 'select 1' }, '/api/projects/2/query/')).status, 404)
})

t.test('a query ends when nobody waits for it, whatever its answer would be', async (t) => {
  const names = Array.from({ length: 16 }, (_, index) => `e${index}`)
  const tables = names.map((name) => `events ${name}`).join(', ')
  const texts = names.map((name) => `${name}.event`).join(', ')
  const sent = (text: string, format: string, signal: AbortSignal | null) =>
    fetch(`${server.url}/api/projects/1/query/`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${server.personalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: { kind: 'HogQLQuery', query: text }, format }),
    })
  // 43 million hashes.
  const count = `select count(*) from ${tables} where sha256(concat(${texts})) = ''`
  for (const format of ['json', 'parquet']) {
    const leave = new AbortController()
    const running = [1, 2].map(() => sent(count, format, leave.signal).catch((error: Error) => error.name))
    // Once both run, a third waits behind them; it would for 20 s, were they not ended.
    let waiting: Promise<Response>
    await until(async () => {
      waiting = sent('select 1', format, null)
      return (await Promise.race([waiting, delay(500, 'waiting')])) === 'waiting'
    })
    const startedMs = performance.now()
    leave.abort()
    t.strictSame(await Promise.all(running), ['AbortError', 'AbortError'], format)
    t.equal((await waiting!).status, 200)
    t.ok(performance.now() - startedMs < 10_000)
  }
})

t.test('reads persons, ids and groups beside events, as they are in Postgres', async (t) => {
  const sent = await server.post(
    '/batch/',
    batch(
      event('ada', {
        event: '$set',
        properties: { $set: { email: 'ada@example.com', plan: 'pro', 'a b': [1, null] } },
      }),
      event('ada', {
        event: '$groupidentify',
        properties: { $group_type: 'company', $group_key: 'acme \x1e', $group_set: { name: 'Acme' } },
      }),
      event('ada', { event: 'worked', properties: { $groups: { company: 'acme \x1e' } } }),
      event('bob \x1e "', { event: 'looked', properties: { $set: { email: 'bob@example.com' } } }),
    ),
  )
  t.equal(sent.status, 200, sent.text)
  await server.settled()
  const rows: [query: string, results: unknown[][]][] = [
    [
      "select properties.email, properties.'a b', is_identified from persons order by 1".replace(
        "'a b'",
        '`a b`',
      ),
      [
        ['ada@example.com', '[1,null]', true],
        ['bob@example.com', null, false],
      ],
    ],
    [
      'select person.properties.email, count() from events group by all order by 2',
      [
        ['bob@example.com', 1],
        ['ada@example.com', 6],
      ],
    ],
    [
      'select distinct_id, person.properties.email from person_distinct_ids order by 1',
      [
        ['ada', 'ada@example.com'],
        ['anon', 'ada@example.com'],
        ['bob \x1e "', 'bob@example.com'],
      ],
    ],
    [
      'select index, key, properties.name, properties from groups',
      [[0, 'acme \x1e', 'Acme', '{"name": "Acme"}']],
    ],
    ["select $group_0, group_0.properties.name from events where event = 'worked'", [['acme \x1e', 'Acme']]],
    ['select count() from events e join persons p on e.person_id = p.id where p.created_at <= now()', [[7]]],
  ]
  for (const [query, results] of rows) t.strictSame((await sql(query)).body.results, results, query)
  t.match((await sql('select * from persons limit 1')).body.columns, [
    'id',
    'created_at',
    'is_identified',
    'properties',
    'team_id',
  ])
})

async function askParquet(query: string) {
  const reply = await fetch(`${server.url}/api/projects/1/query/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.personalApiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: { kind: 'HogQLQuery', query }, format: 'parquet' }),
  })
  const bytes = Buffer.from(await reply.arrayBuffer())
  return { status: reply.status, type: reply.headers.get('content-type'), bytes }
}

t.test('answers a Parquet file with all rows, persons too, in their own types', async (t) => {
  const file = join(t.testdir(), 'answer.parquet')
  const reading = await (await DuckDBInstance.create(':memory:')).connect()
  const read = async (query: string, select: string) => {
    const { status, type, bytes } = await askParquet(query)
    t.strictSame([status, type], [200, 'application/vnd.apache.parquet'], query)
    writeFileSync(file, bytes)
    return (await reading.runAndReadAll(`${select} from '${file}'`)).getRowsJson()
  }
  const text = `select person_id, timestamp, properties, toInt(properties.n) as n, event = 'bought' as is_bought,
    person.properties.email as email, sum(n) over () as total from events where distinct_id = 'ada' and n > 0`
  t.strictSame(await read(text, 'select typeof(columns(*))'), [
    ['UUID', 'TIMESTAMP WITH TIME ZONE', 'JSON', 'BIGINT', 'BOOLEAN', 'VARCHAR', 'DECIMAL(38,0)'],
  ])
  t.strictSame(await read(text, 'select n, is_bought, email, total::integer, properties.n'), [
    ['2', true, 'ada@example.com', 2, '2'],
  ])
  const count = Number((await sql('select count() from events')).body.results[0][0])
  const cross = Array.from({ length: 6 }, (_, index) => `events e${index}`).join(', ')
  t.strictSame(await read(`select e0.event from ${cross}`, 'select count(*)'), [[String(count ** 6)]])
  t.strictSame(await read('select event from events limit 2', 'select count(*)'), [['2']])
  t.strictSame(await read('select event from events where false', 'select count(*)'), [['0']])
})

t.test('refuses for a file what it refuses for rows', async (t) => {
  const sample = hostileQueries.filter((_, index) => index % 40 === 0)
  t.ok(sample.length >= 15)
  for (const query of sample) {
    const { status, bytes } = await askParquet(query)
    t.equal(status, 400, `${query.slice(0, 120)}: ${bytes.toString().slice(0, 200)}`)
  }
  const { body } = await ask({ kind: 'HogQLQuery', query: 'select 1' })
  t.equal(body.limit, 100)
  const reply = await server.post(
    '/api/projects/1/query/',
    { query: { kind: 'HogQLQuery', query: 'select 1' }, format: 'csv' },
    { authorization: `Bearer ${server.personalApiKey}` },
  )
  t.match([reply.status, JSON.parse(reply.text)], [400, { attr: 'format' }])
})
