// Redshift itself is nowhere here. Its dialect is tried on Postgres, with stand-ins for the type SUPER and the function
// json_parse, which are all that the statements use beyond what both know.

import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { redshiftDestination } from '../../src/exports/redshift-destination.ts'
import { rowsOf } from '../support/cluster.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'
import { showReplacing } from './replacing.ts'
import { columns, config, eventRows, never, outboundFor, stage, subject } from './staged.ts'

async function open(t: Test, more: Readonly<Record<string, unknown>> = {}, run = subject) {
  const { connectionString } = await freshDatabase(t, true)
  const front = await startPostgresFront(t, connectionString)
  const sql = (text: string) => rowsOf(connectionString, text)
  await sql('create domain super as json')
  await sql('create function json_parse(text) returns json language sql as $$ select $1::json $$')
  const database = /@\/(\w+)\?/.exec(connectionString)![1]
  const place = { user: 'spate', password: 'open sesame', host: '127.0.0.1', port: front.port, database }
  const given = config('Redshift', { ...place, ...more })
  const delivery = await redshiftDestination.open(given, run, outboundFor(t), never)
  return { delivery, sql }
}

const csv = redshiftDestination.format(config('NoOp', {}))

for (const [properties_data_type, type] of [
  ['varchar', 'character varying'],
  ['super', 'json'],
] as const) {
  t.test(
    `rows arrive by INSERT, JSON as ${properties_data_type}, and a chunk again changes nothing`,
    async (t) => {
      const { delivery, sql } = await open(t, { properties_data_type })
      const chunk = await stage(t, csv)
      await delivery.deliver(chunk, never)
      await delivery.deliver(chunk, never)
      const rows = await sql(
        `select uuid, event, distinct_id, properties::text, elements_chain,
         (timestamp at time zone 'UTC')::text as timestamp, team_id::text, score, is_late
       from events order by uuid`,
      )
      t.same(rows, eventRows)
      const [found] = await sql(
        `select data_type from information_schema.columns where table_name = 'events' and column_name = 'properties'`,
      )
      t.same(found, { data_type: type })
      await delivery.finish([chunk], never)
      t.same(await sql('select * from spate_export_chunk'), [])
      await delivery.close()
    },
  )
}

t.test('more rows than a statement takes parameters', async (t) => {
  const { delivery, sql } = await open(t)
  const chunk = await stage(t, csv)
  const two = columns.slice(1, 3)
  const lines = Array.from({ length: 40_000 }, (_, index) => `event ${index},"id, ""${index}"""\n`)
  writeFileSync(chunk.path, `event,distinct_id\n${lines.join('')}`)
  await delivery.deliver({ ...chunk, columns: two, recordCount: 40_000 }, never)
  t.same(
    await sql(`select count(*)::integer as n, max(distinct_id) as last from events
               where distinct_id = 'id, "' || substr(event, 7) || '"'`),
    [{ n: 40_000, last: 'id, "9999"' }],
  )
})

t.test('a value that is too long is named, and nothing of its chunk is stored', async (t) => {
  const { delivery, sql } = await open(t)
  const chunk = await stage(t, csv)
  const two = [columns[0]!, columns[3]!]
  const stageText = (bytes: number) =>
    writeFileSync(
      chunk.path,
      `uuid,properties\n${eventRows[0].uuid},"{""a"":""${'x'.repeat(bytes - 8)}""}"\n`,
    )
  stageText(65_536)
  await t.rejects(delivery.deliver({ ...chunk, columns: two, recordCount: 1 }, never), {
    message:
      "A value of properties has 65536 bytes, and Redshift's longest VARCHAR 65535. " +
      'Set properties_data_type to super, and choose another table_name.',
  })
  t.same(await sql(`select to_regclass('events') as found`), [{ found: null }])
  stageText(65_535)
  await delivery.deliver({ ...chunk, columns: two, recordCount: 1 }, never)
  t.same(await sql('select length(properties) as n from events'), [{ n: 65_535 }])
})

t.test('the mode COPY is refused where destinations are read', async (t) => {
  const copy_inputs = { s3_bucket: 'b', region_name: 'r', authorization: 'role' }
  await t.rejects(open(t, { mode: 'COPY', copy_inputs }), {
    code: 'invalid_input',
    detail: "Configuration has invalid value: 'mode' must be one of INSERT.",
  })
})

t.test('a person that has changed takes the place of what was known', async (t) => {
  const { delivery, sql } = await open(t, {}, { ...subject, model: 'persons' })
  await showReplacing(t, delivery, sql)
})
