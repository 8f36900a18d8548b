import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { clickHouseType } from '../../src/events/clickhouse-type.ts'

t.test('names every type that a query can answer with', async (t) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const rows: [value: string, type: string][] = [
    ['true', 'Bool'],
    ['1::tinyint', 'Int8'],
    ['1::smallint', 'Int16'],
    ['1', 'Int32'],
    ['count(*)', 'Int64'],
    ['sum(1)', 'Int128'],
    ['1::utinyint', 'UInt8'],
    ['1::usmallint', 'UInt16'],
    ['1::uinteger', 'UInt32'],
    ['1::ubigint', 'UInt64'],
    ['1::uhugeint', 'UInt128'],
    ['1::float', 'Float32'],
    ['1e0', 'Float64'],
    ['1.5', 'Decimal(2, 1)'],
    ["'x'", 'String'],
    ["'{}'::json", 'String'],
    ["'x'::blob", 'String'],
    ["'a'::enum ('a')", 'String'],
    ['uuid()', 'UUID'],
    ["date '2024-05-01'", 'Date'],
    ["timestamp '2024-05-01'", 'DateTime64(6)'],
    ["'2024-05-01'::timestamp_s", 'DateTime64(0)'],
    ["'2024-05-01'::timestamp_ms", 'DateTime64(3)'],
    ["'2024-05-01'::timestamp_ns", 'DateTime64(9)'],
    ["timestamptz '2024-05-01'", "DateTime64(6, 'UTC')"],
    ["time '12:00'", 'String'],
    ['interval 1 day', 'Tuple(months Int32, days Int32, micros Int64)'],
    ["[['x']]", 'Array(Array(String))'],
    ['[1, 2]::integer[2]', 'Array(Int32)'],
    ["{'a': 1, 'b': [true]}", 'Tuple(a Int32, b Array(Bool))'],
    ["map {'a': 1e0}", 'Map(String, Float64)'],
  ]
  const reader = await connection.runAndReadAll(`select ${rows.map(([value]) => value).join(', ')}`)
  const types = reader.columnTypes()
  for (const [index, [value, type]] of rows.entries()) t.equal(clickHouseType(types[index]!), type, value)
})
