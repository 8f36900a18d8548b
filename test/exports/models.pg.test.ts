import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Model } from '../../src/exports/delivery.ts'
import { postgresDestination } from '../../src/exports/postgres-destination.ts'
import { s3Destination } from '../../src/exports/s3-destination.ts'
import { uuidOf } from '../events/make-batch.ts'
import { rowsOf } from '../support/cluster.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'
import { s3Bucket, s3Keys, startS3 } from '../support/s3.ts'
import { openPersons } from './persons-world.ts'
import { duckdb, folder, outboundFor } from './staged.ts'
import { type ExportsWorld, noonMs, openExportsWorld } from './world.ts'

/** A world that exports to the real destinations, in small chunks. */
function openModelsWorld(t: Test, S3 = s3Destination): Promise<ExportsWorld> {
  return openExportsWorld(t, {
    destinations: {
      S3,
      Postgres: postgresDestination,
      Redshift: postgresDestination,
      HTTP: s3Destination,
      NoOp: s3Destination,
    },
    outbound: outboundFor(t),
    chunkRowsMax: 100,
  })
}

/** A world with an export of `model` to each destination. */
async function worldWith(t: Test, model: Model, more: { readonly hogql_query?: string } = {}) {
  const s3 = await startS3(t)
  const theirs = await freshDatabase(t, true)
  const front = await startPostgresFront(t, theirs.connectionString, false)
  const world = await openModelsWorld(t)
  const bucket = { bucket_name: s3Bucket, region: 'us-east-1', endpoint_url: s3.endpoint, ...s3Keys }
  const s3Export = (file_format: string, compression: string | null) =>
    world.makeExport({
      ...more,
      model,
      destination_type: 'S3',
      destination_config: { ...bucket, prefix: `{table}/${file_format}`, file_format, compression },
    })
  await s3Export('Parquet', 'zstd')
  await s3Export('JSONLines', 'gzip')
  await world.makeExport({
    ...more,
    model,
    destination_type: 'Postgres',
    destination_config: {
      user: 'spate',
      password: 'x',
      host: 'localhost',
      port: front.port,
      database: /@\/(\w+)\?/.exec(theirs.connectionString)![1],
      table_name: model,
    },
  })
  const table = (sql: string) => rowsOf(theirs.connectionString, sql)
  /** DuckDB's name for the file of an hour. */
  const fileOf = async (format: 'Parquet' | 'JSONLines', hour: number): Promise<string> => {
    const ending = format === 'Parquet' ? 'parquet.zst' : 'jsonl.gz'
    const span = [hour, hour + 1].map((one) => `2024-05-01T${one}:00:00+00:00`).join('-')
    const path = join(folder(t), `file.${ending}`)
    writeFileSync(path, await s3.object(`${model}/${format}/${span}.${ending}`))
    return path
  }
  return { world, table, fileOf }
}

const texts = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))

t.test(
  'persons arrive as they are, with types, and the newer ones take the place of the older',
  async (t) => {
    const { world, table, fileOf } = await worldWith(t, 'persons')
    const persons = await openPersons(t, world)
    await persons.set('ada', { n: 1, text: 'a "b"\n,\u001e\u00fc', nested: { a: [1, 2.5, null] } })
    await persons.set('b"o,b\n', { big: 12345678901234567890n.toString() })
    world.at(60)
    await world.settle()
    const stored = `select 1::bigint as team_id, distinct_id, person_uuid as person_id, properties,
    id.version as person_distinct_id_version, person.version as person_version, created_at,
    greatest(person.changed_at, id.changed_at) as _inserted_at, false as is_deleted
    from person_distinct_id id join person on person.uuid = id.person_uuid`
    const asText = `team_id::text, distinct_id, person_id::text, properties::text, person_distinct_id_version::text,
    person_version::text, (created_at at time zone 'UTC')::text as created_at,
    (_inserted_at at time zone 'UTC')::text as _inserted_at, is_deleted::text`
    const ours = () =>
      rowsOf(world.connectionString, `select ${asText} from (${stored}) row order by distinct_id`)
    const inTable = () => table(`select ${asText} from persons order by distinct_id`)
    const first = await ours()
    t.equal(first.length, 2)
    t.same(await inTable(), first)
    const types = await table(
      `select column_name as name, data_type as type from information_schema.columns where table_name = 'persons'
     order by ordinal_position`,
    )
    const columns = [
      ['team_id', 'bigint', 'BIGINT'],
      ['distinct_id', 'text', 'VARCHAR'],
      ['person_id', 'uuid', 'VARCHAR'],
      ['properties', 'jsonb', 'VARCHAR'],
      ['person_distinct_id_version', 'bigint', 'BIGINT'],
      ['person_version', 'bigint', 'BIGINT'],
      ['created_at', 'timestamp with time zone', 'TIMESTAMP WITH TIME ZONE'],
      ['_inserted_at', 'timestamp with time zone', 'TIMESTAMP WITH TIME ZONE'],
      ['is_deleted', 'boolean', 'BOOLEAN'],
    ] as const
    t.same(
      types,
      columns.map(([name, type]) => ({ name, type })),
    )
    const parquet = `read_parquet('${await fileOf('Parquet', 12)}')`
    const described = await duckdb(`describe select * from ${parquet}`)
    t.same(
      described.map(({ column_name, column_type }) => [column_name, column_type]),
      columns.map(([name, , type]) => [name, type]),
    )
    const naive =
      '(created_at::timestamp)::varchar as created_at, (_inserted_at::timestamp)::varchar as _inserted_at'
    const read = await duckdb(`select * replace (${naive}) from ${parquet} order by distinct_id`)
    t.same(read.map(texts), first)
    const lines = await duckdb(
      `select * from read_ndjson('${await fileOf('JSONLines', 12)}', columns = {distinct_id: 'varchar',
      properties: 'json', created_at: 'timestamp', person_version: 'bigint', is_deleted: 'boolean'})
     order by distinct_id`,
    )
    t.same(
      lines.map((line) => ({ ...texts(line), properties: JSON.parse(String(line.properties)) })),
      first.map((row) => {
        const { distinct_id, properties, created_at, person_version, is_deleted } = row as Record<
          string,
          string
        >
        return { distinct_id, properties: JSON.parse(properties!), created_at, person_version, is_deleted }
      }),
    )
    await persons.identify('ada', 'ada-anonymous')
    await persons.set('ada', { n: 2 })
    world.at(120)
    await world.settle()
    const second = await ours()
    t.equal(second.length, 3)
    t.same(await inTable(), second)
    await persons.delete('ada')
    world.at(180)
    await world.settle()
    t.same(await table('select distinct_id, properties, is_deleted from persons order by distinct_id'), [
      { distinct_id: 'ada', properties: {}, is_deleted: true },
      { distinct_id: 'ada-anonymous', properties: {}, is_deleted: true },
      {
        distinct_id: 'b"o,b\n',
        properties: JSON.parse((second[2] as { properties: string }).properties),
        is_deleted: false,
      },
    ])
  },
)

t.test('sessions arrive as people query them, and grow where they are', async (t) => {
  const { world, table, fileOf } = await worldWith(t, 'sessions')
  const ingest = (session: string, second: number) =>
    world.ingest({
      receivedAtMs: world.nowMs,
      rows: [
        {
          uuid: uuidOf(second),
          event: '$pageview',
          timestampMicros: (noonMs + second * 1000) * 1000 + 1,
          properties: JSON.stringify({ $session_id: session, $pathname: `/${second}` }),
        },
      ],
    })
  await ingest('s"1,\n', 1)
  await ingest('s2', 2)
  world.at(60)
  await world.settle()
  const some = `session_id, team_id, session_duration, pageview_count, is_bounce, entry_pathname, end_pathname,
    entry_utm_source`
  const row = (session_id: string, first: number, last: number, count: number) => ({
    session_id,
    team_id: 1,
    session_duration: last - first,
    pageview_count: count,
    is_bounce: count === 1,
    entry_pathname: `/${first}`,
    end_pathname: `/${last}`,
    entry_utm_source: null,
  })
  const numbers = (found: unknown) => {
    const { team_id, session_duration, pageview_count, ...rest } = found as Record<string, unknown>
    const counts = { team_id, session_duration, pageview_count }
    return {
      ...rest,
      ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, Number(count)])),
    }
  }
  const inTable = async () => (await table(`select ${some} from sessions order by session_id`)).map(numbers)
  const expected = [row('s"1,\n', 1, 1, 1), row('s2', 2, 2, 1)]
  t.same(await inTable(), expected)
  for (const format of ['Parquet', 'JSONLines'] as const) {
    const path = await fileOf(format, 12)
    const from = format === 'Parquet' ? `read_parquet('${path}')` : `read_ndjson('${path}')`
    t.same((await duckdb(`select ${some} from ${from} order by session_id`)).map(numbers), expected)
    const [moments] = await duckdb(
      `select distinct start_timestamp::timestamptz::timestamp::varchar as start,
         _inserted_at::timestamptz::timestamp::varchar as stored
       from ${from} where session_id = 's2'`,
    )
    t.same(moments, { start: '2024-05-01 12:00:02.000001', stored: '2024-05-01 12:00:00' })
  }
  await ingest('s2', 30)
  world.at(120)
  await world.settle()
  t.same(await inTable(), [expected[0], row('s2', 2, 30, 2)])
})

t.test('events carry their persons of now, in chunks as small as these need', async (t) => {
  const s3 = await startS3(t)
  const world = await openModelsWorld(t, { ...s3Destination, chunkBytesMax: () => 5_000 })
  const persons = await openPersons(t, world)
  await persons.set('ada', { text: 'a "b"\n,\u001e', n: 1 })
  await persons.set('bob', { text: 'x'.repeat(3_000) })
  const { rows: known } = await world.postgres.query<{
    distinct_id: string
    uuid: string
    properties: object
  }>(
    `select distinct_id, uuid, properties from person join person_distinct_id on person_uuid = uuid order by 1`,
  )
  const bornIds = [...known.map(({ uuid }) => uuid), uuidOf(0xdead)]
  await world.ingest({
    rows: Array.from({ length: 9 }, (_, n) => ({ uuid: uuidOf(n), bornId: bornIds[n % 3]! })),
  })
  const bucket = { bucket_name: s3Bucket, region: 'us-east-1', endpoint_url: s3.endpoint, ...s3Keys }
  await world.makeExport({
    destination_type: 'S3',
    destination_config: { ...bucket, prefix: '', file_format: 'Parquet' },
  })
  await persons.set('ada', { n: 2 })
  world.at(60)
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 9, records_total_count: 9 })
  const keys = await s3.keys()
  t.ok(keys.length > 1 && keys.length < 9)
  const place = folder(t)
  for (const [n, key] of keys.entries()) writeFileSync(join(place, `${n}.parquet`), await s3.object(key))
  const rows = await duckdb(
    `select uuid, person_id, person_properties from read_parquet('${place}/*.parquet') order by uuid`,
  )
  const { rows: now } = await world.postgres.query<{ uuid: string; text: string }>(
    'select uuid, properties::text as text from person',
  )
  t.match(now.find(({ uuid }) => uuid === bornIds[0])?.text, /"n": 2/)
  t.strictSame(
    rows,
    Array.from({ length: 9 }, (_, n) => ({
      uuid: uuidOf(n),
      person_id: bornIds[n % 3],
      person_properties: now.find(({ uuid }) => uuid === bornIds[n % 3])?.text ?? '{}',
    })),
  )
})

t.test("a query's columns arrive under the names that its schema tells", async (t) => {
  const hogql_query = `select uuid, properties.plan, lower(event), properties.plan, person_id as person,
    multiIf(event = 'one', 'the first of all the events', event = 'two', 'the second', 'any other of them') from events`
  const { world, table, fileOf } = await worldWith(t, 'events', { hogql_query })
  const properties = JSON.stringify({ plan: 'pro' })
  await world.ingest({ rows: [{ uuid: uuidOf(1), event: 'One', bornId: uuidOf(2), properties }] })
  world.at(60)
  await world.settle()
  const long = "multiIf(event = 'one', 'the first of all the events', event"
  const row = {
    uuid: uuidOf(1),
    plan: 'pro',
    'lower(event)': 'one',
    plan_1: 'pro',
    person: uuidOf(2),
    [long]: 'any other of them',
  }
  t.same(await table('select * from events'), [row])
  t.same(await duckdb(`select * from read_parquet('${await fileOf('Parquet', 12)}')`), [row])
  t.same(await duckdb(`select * from read_ndjson('${await fileOf('JSONLines', 12)}')`), [row])
})
