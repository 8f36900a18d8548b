import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { applySchema, schemaFiles } from '../../src/events/schema.ts'

t.test('applies each file once and remembers it', async (t) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  t.teardown(() => connection.closeSync())
  await applySchema(connection, 1_000_000)
  await applySchema(connection, 2_000_000)
  const reader = await connection.runAndReadAll(
    'select number, name, epoch_us(applied_at)::int from schema_file',
  )
  t.strictSame(
    reader.getRowsJson(),
    schemaFiles().map((name, index) => [index + 1, name, 1_000_000]),
  )
})

t.test('has no key, no index and nothing that may be empty', async (t) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  t.teardown(() => connection.closeSync())
  await applySchema(connection, 0)
  const count = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  t.strictSame(await count('select count(*) from duckdb_indexes()'), [['0']])
  t.strictSame(
    await count("select distinct constraint_type from duckdb_constraints() where schema_name = 'main'"),
    [['NOT NULL']],
  )
  t.strictSame(
    await count("select count(*) from duckdb_columns() where table_name = 'event' and is_nullable"),
    [['0']],
  )
})
