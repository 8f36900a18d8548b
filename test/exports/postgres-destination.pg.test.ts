import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { StagedChunk } from '../../src/exports/delivery.ts'
import { createMarkTable } from '../../src/exports/postgres-columns.ts'
import { postgresDestination } from '../../src/exports/postgres-destination.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { silentLog } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { everythingOf } from './everything-of.ts'
import { openDeliveryTo, openPlace } from './postgres-place.ts'
import { showReplacing } from './replacing.ts'
import { columns, config, eventRows, never, stage, subject } from './staged.ts'

const csv = postgresDestination.format(config('NoOp', {}))

t.test(
  'rows arrive with their types in a table that is made, and a chunk again changes nothing',
  async (t) => {
    const place = await openPlace(t)
    const delivery = await openDeliveryTo(t, place)
    const chunk = await stage(t, csv)
    await delivery.deliver(chunk, never)
    await delivery.deliver(chunk, never)
    const rows = await place.sql(
      `select uuid, event, distinct_id, properties::text, elements_chain,
       (timestamp at time zone 'UTC')::text as timestamp,
       team_id::text, score, is_late from events order by uuid`,
    )
    t.same(
      rows,
      eventRows.map((row) => ({
        ...row,
        properties: {
          '{}': '{}',
          [eventRows[0].properties]:
            '{"n": 12345678901234567890, "text": "a,\\"b\\"\\n ü 🐘", "nested": {"a": [1, 2.5, null]}}',
          [eventRows[2].properties]: '{"$ip": "1.2.3.4", "$set": {"plan": "free"}}',
        }[row.properties],
      })),
    )
    const types = await place.sql(
      `select data_type from information_schema.columns where table_name = 'events' order by ordinal_position`,
    )
    t.same(
      types.map((row) => Object.values(row as object)[0]),
      [
        'uuid',
        'text',
        'text',
        'jsonb',
        'text',
        'timestamp with time zone',
        'bigint',
        'double precision',
        'boolean',
      ],
    )
    await delivery.deliver({ ...chunk, index: 1 }, never)
    t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 6 }])
    await delivery.finish([chunk], never)
    t.same(await place.sql('select * from spate_export_chunk'), [])
    await delivery.close()
  },
)

t.test('a table that is there is taken as it is, whatever it is called', async (t) => {
  const place = await openPlace(t)
  const table = '"s ch""ema"."Events; drop"'
  const names = columns.map(({ name }) => `"${name}"`)
  await place.sql('create schema "s ch""ema"')
  await place.sql(
    `create table ${table} (id serial, ${names.join(' varchar(200), ')} varchar(200), more text default 'x')`,
  )
  const delivery = await openDeliveryTo(t, place, { schema: 's ch"ema', table_name: 'Events; drop' })
  await delivery.deliver(await stage(t, csv), never)
  t.same(await place.sql(`select event, is_late, more from ${table} order by id`), [
    { event: 'signed "up", twice', is_late: 'true', more: 'x' },
    { event: '$pageview', is_late: 'false', more: 'x' },
    { event: 'null', is_late: null, more: 'x' },
  ])
})

t.test('a chunk that fails leaves nothing, and arrives once what was wrong is mended', async (t) => {
  const place = await openPlace(t)
  const delivery = await openDeliveryTo(t, place)
  const chunk = await stage(t, csv)
  const failure = () =>
    delivery.deliver(chunk, never).then(
      () => null,
      ({ kind, message }) => `${kind}: ${message}`,
    )
  await place.sql('create table events (uuid uuid, event varchar(3))')
  t.match(await failure(), /^permanent: The table lacks a column that is exported\. .*\(42703\)$/)
  await place.sql('drop table events')
  const names = columns.map(({ name }) => `"${name}"`)
  await place.sql(`create table events (${names.join(' varchar(3), ')} varchar(3))`)
  t.match(await failure(), /^permanent: The table has columns of other types .*\(22001\)$/)
  await place.sql('alter table events add constraint one check (false)')
  await place.sql(`alter table events ${columns.map(({ name }) => `alter "${name}" type text`).join(', ')}`)
  t.match(await failure(), /^permanent: A constraint of the table refuses rows\. .*\(23514\)$/)
  t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 0 }])
  await place.sql('alter table events drop constraint one')
  t.equal(await failure(), null)
  t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 3 }])
})

t.test('two exports that make the same table at the same moment both arrive', async (t) => {
  const place = await openPlace(t)
  const postgres = openPostgres({ connectionString: place.connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  const delivery = await openDeliveryTo(t, place)
  const chunk = await stage(t, csv)
  let delivered = Promise.resolve()
  await postgres.transaction(async (session) => {
    // As the other export makes it, with the columns that it shares.
    await session.query(createMarkTable('spate_export_chunk'))
    delivered = delivery.deliver(chunk, never)
    delivered.catch(() => {}) // looked at below
    await until(async () => (await postgres.query('select from pg_locks where not granted')).rowCount > 0)
  })
  await t.rejects(delivered, { kind: 'temporary', message: /^Another export made the same table/ })
  await delivery.deliver(chunk, never)
  t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 3 }])
})

t.test('events that an earlier run may have delivered take the place of what it has left', async (t) => {
  const place = await openPlace(t)
  const first = await openDeliveryTo(t, place)
  const chunk = await stage(t, csv)
  await first.deliver(chunk, never)
  for (const runId of ['018f3c80-0000-7000-8000-00000000cccc', '018f3c80-0000-7000-8000-00000000dddd']) {
    const again = await openDeliveryTo(t, place, {}, '127.0.0.1', { ...subject, runId, mayRepeat: true })
    await again.deliver(chunk, never)
    await again.deliver(chunk, never)
  }
  t.same(
    await place.sql('select uuid from events order by uuid'),
    eventRows.map(({ uuid }) => ({ uuid })),
  )
  // What a query has made of events is not told apart.
  const query = {
    ...subject,
    runId: '018f3c80-0000-7000-8000-00000000eeee',
    mayRepeat: true,
    hogqlQuery: 'q',
  }
  await (await openDeliveryTo(t, place, {}, '127.0.0.1', query)).deliver(chunk, never)
  t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 6 }])
})

t.test('persons and sessions that have changed take the place of what was known', async (t) => {
  const place = await openPlace(t)
  const persons = await openDeliveryTo(t, place, {}, '127.0.0.1', { ...subject, model: 'persons' })
  await showReplacing(t, persons, place.sql)
  const given = { table_name: 'queried' }
  const run = { ...subject, model: 'persons' as const, hogqlQuery: 'select 1' }
  const queried = await openDeliveryTo(t, place, given, '127.0.0.1', run)
  const chunk = await stage(t, csv)
  for (const index of [0, 1]) await queried.deliver({ ...chunk, index: index + 7 }, never)
  t.same(await place.sql('select count(*)::integer as n from queried'), [{ n: 6 }])
})

t.test('a number that jsonb does not hold becomes text, and keeps no other event out', async (t) => {
  const place = await openPlace(t)
  const delivery = await openDeliveryTo(t, place)
  const chunk = await stage(t, csv)
  const rows = [
    'uuid,properties',
    `${eventRows[0].uuid},"{""n"":1e999999,""m"":12,""s"":""1e999999""}"`,
    `${eventRows[1].uuid},"{""n"":2}"`,
  ]
  writeFileSync(chunk.path, `${rows.join('\n')}\n`)
  const two = columns.filter(({ name }) => name === 'uuid' || name === 'properties')
  await delivery.deliver({ ...chunk, columns: two, recordCount: 2 }, never)
  t.same(await place.sql('select properties::text from events order by uuid'), [
    { properties: '{"m": 12, "n": "1e999999", "s": "1e999999"}' },
    { properties: '{"n": 2}' },
  ])
})

t.test('what the server refuses is told in a sentence without its words', async (t) => {
  const place = await openPlace(t)
  const chunk = await stage(t, csv)
  const failure = async (more: object, allow?: string) => {
    const delivery = await openDeliveryTo(t, place, more, allow)
    const error = await delivery.deliver(chunk, never).catch((error) => error)
    t.notMatch(everythingOf(error), /sesame|row 7/)
    return `${error.kind}: ${error.message}`
  }
  t.match(await failure({ user: 'nobody' }), /^permanent: The database refuses the user: .*\(28000\)$/)
  t.match(await failure({ database: 'nowhere' }), /^permanent: The database does not exist\./)
  t.match(await failure({ schema: 'nowhere' }), /^permanent: The schema does not exist\./)
  t.match(await failure({ schema: 'pg_catalog' }), /^permanent: The user may not do this: .*\(42501\)$/)
  const refusals: readonly [string, RegExp][] = [
    ['28P01', /^permanent: The database refuses the user/],
    ['53100', /^temporary: The database's disk is full\. Make room\./],
    ['53300', /^temporary: The database has too many connections\./],
    ['57P03', /^temporary: The database ended the connection\./],
    ['40001', /^temporary: /],
    ['XX000', /^temporary: The Postgres server reports an error\./],
  ]
  for (const [state, sentence] of refusals) {
    place.front.refusal = state
    t.match(await failure({}), sentence, state)
  }
  t.equal(await failure({ port: 9 }), 'temporary: The Postgres server could not be reached (ECONNREFUSED).')
  t.equal(
    await failure({}, '127.0.0.2'),
    'permanent: The Postgres server may not be called: It leads into a private network.',
  )
})

t.test('TLS is spoken where the server does, and its certificate is looked at', async (t) => {
  const place = await openPlace(t, true)
  const chunk = await stage(t, csv)
  const strict = await openDeliveryTo(t, place)
  await t.rejects(strict.deliver(chunk, never), {
    message:
      'The Postgres server shows a certificate that no authority known here has signed ' +
      '(DEPTH_ZERO_SELF_SIGNED_CERT). Who runs Spate can make one known in NODE_EXTRA_CA_CERTS. ' +
      'If it is its own, set has_self_signed_cert.',
  })
  for (const [index, host] of ['localhost', '127.0.0.1'].entries()) {
    const lax = await openDeliveryTo(t, place, { has_self_signed_cert: true, host })
    await lax.deliver({ ...chunk, index }, never)
  }
  t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 6 }])
})

t.test(
  'a delivery that is stopped in the middle of a copy ends its connection and leaves nothing',
  async (t) => {
    const place = await openPlace(t)
    const delivery = await openDeliveryTo(t, place)
    const chunk = bigChunk(await stage(t, csv))
    await place.sql('create table events (event text)')
    const stopping = new AbortController()
    place.front.silentAfter = 512 * 1024
    const delivering = delivery.deliver(chunk, stopping.signal)
    const copying = `select 1 from pg_stat_activity where query like 'copy %' and datname = current_database()`
    await until(async () => (await place.sql(copying)).length === 1)
    stopping.abort(new Error('cancelled'))
    await t.rejects(delivering, { message: 'cancelled' })
    await until(async () => (await place.sql(copying)).length === 0)
    t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 0 }])
    place.front.silentAfter = Number.POSITIVE_INFINITY
    await delivery.deliver(chunk, never)
    t.same(await place.sql('select count(*)::integer as n from events'), [{ n: 100_000 }])
  },
)

/** 5 MB of one column. */
function bigChunk(chunk: StagedChunk): StagedChunk {
  writeFileSync(chunk.path, `event\n${`${'x'.repeat(50)}\n`.repeat(100_000)}`)
  return { ...chunk, columns: [{ name: 'event', type: 'text' }], recordCount: 100_000 }
}
