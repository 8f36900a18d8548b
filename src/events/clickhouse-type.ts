// Types of columns as PostHog names them: its answers carry ClickHouse's names, and its clients look for `Int`,
// `DateTime` or `Array(` in them. Every column of ours may hold nulls; `Nullable(…)` is left out for that.

import {
  DuckDBArrayType,
  DuckDBDecimalType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api'

/** The types that have no parts; what is missing here is text in an answer. */
const plain: Readonly<Partial<Record<DuckDBTypeId, string>>> = {
  [DuckDBTypeId.BOOLEAN]: 'Bool',
  [DuckDBTypeId.TINYINT]: 'Int8',
  [DuckDBTypeId.SMALLINT]: 'Int16',
  [DuckDBTypeId.INTEGER]: 'Int32',
  [DuckDBTypeId.BIGINT]: 'Int64',
  [DuckDBTypeId.HUGEINT]: 'Int128',
  [DuckDBTypeId.UTINYINT]: 'UInt8',
  [DuckDBTypeId.USMALLINT]: 'UInt16',
  [DuckDBTypeId.UINTEGER]: 'UInt32',
  [DuckDBTypeId.UBIGINT]: 'UInt64',
  [DuckDBTypeId.UHUGEINT]: 'UInt128',
  [DuckDBTypeId.FLOAT]: 'Float32',
  [DuckDBTypeId.DOUBLE]: 'Float64',
  [DuckDBTypeId.DATE]: 'Date',
  [DuckDBTypeId.TIMESTAMP]: 'DateTime64(6)',
  [DuckDBTypeId.TIMESTAMP_S]: 'DateTime64(0)',
  [DuckDBTypeId.TIMESTAMP_MS]: 'DateTime64(3)',
  [DuckDBTypeId.TIMESTAMP_NS]: 'DateTime64(9)',
  [DuckDBTypeId.TIMESTAMP_TZ]: "DateTime64(6, 'UTC')",
  [DuckDBTypeId.UUID]: 'UUID',
  [DuckDBTypeId.INTERVAL]: 'Tuple(months Int32, days Int32, micros Int64)',
  [DuckDBTypeId.SQLNULL]: 'Nullable(Nothing)',
}

export function clickHouseType(type: DuckDBType): string {
  if (type instanceof DuckDBDecimalType) return `Decimal(${type.width}, ${type.scale})`
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType)
    return `Array(${clickHouseType(type.valueType)})`
  if (type instanceof DuckDBMapType)
    return `Map(${clickHouseType(type.keyType)}, ${clickHouseType(type.valueType)})`
  if (type instanceof DuckDBStructType) {
    const fields = type.entryNames.map((name, index) => `${name} ${clickHouseType(type.entryTypes[index]!)}`)
    return `Tuple(${fields.join(', ')})`
  }
  return plain[type.typeId] ?? 'String'
}
