// Redshift, which speaks the protocol of Postgres and much of its SQL, but takes no rows by COPY from a connection:
// they go in by INSERT, many at a time. Its COPY reads from S3, which the mode COPY would be; that is not built, and
// refused where destinations are read.

import type { Foreign } from '../postgres/foreign.ts'
import { csvRows, type Row } from './csv-rows.ts'
import { type Column, DeliveryError, type Destination } from './delivery.ts'
import {
  type ColumnTypes,
  columnList,
  createTable,
  redshiftTextBytesMax,
  redshiftTypes,
} from './postgres-columns.ts'
import { type Dialect, openDelivery } from './postgres-delivery.ts'

/** Redshift's limit, of a statement. */
const paramsMax = 32_767
/** A statement may have 16 MB. */
const batchBytesMax = 4 * 1024 * 1024

export const redshiftDestination: Destination = {
  isReplacing: true,
  hasPersonProperties: false,
  format: () => ({ kind: 'csv', compression: null }),
  chunkBytesMax: () => null,
  async open(config, run, outbound) {
    return openDelivery({ config, run, outbound, dialect: redshiftDialect(redshiftTypes(config)) })
  },
}

function redshiftDialect(types: ColumnTypes): Dialect {
  return {
    what: 'Redshift',
    create: (table, columns) => createTable(table, columns, types),
    async makeTable(foreign, _table, statement) {
      await foreign.query(statement)
    },
    lock: (table) => `lock ${table}`,
    async write(foreign, table, { path, columns }, signal) {
      const texts = columns.map(({ type }) => types[type].startsWith('varchar'))
      let batch: Row[] = []
      let bytes = 0
      for await (const row of csvRows(path)) {
        signal.throwIfAborted()
        const size = checkedSize(row, columns, texts)
        if (bytes + size > batchBytesMax || (batch.length + 1) * columns.length > paramsMax) {
          await insert(foreign, table, columns, types.json, batch)
          batch = []
          bytes = 0
        }
        batch.push(row)
        bytes += size
      }
      await insert(foreign, table, columns, types.json, batch)
    },
  }
}

async function insert(
  foreign: Foreign,
  table: string,
  columns: readonly Column[],
  jsonType: string,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((_, index) => {
    const first = index * columns.length + 1
    return `(${columns.map(({ type }, at) => param(first + at, type, jsonType)).join(', ')})`
  })
  const sql = `insert into ${table} (${columnList(columns)}) values ${values.join(', ')}`
  await foreign.query(sql, rows.flat())
}

/** Texts carry no cast: one to VARCHAR without a length would cut them at 256 bytes. */
function param(number: number, type: Column['type'], jsonType: string): string {
  switch (type) {
    case 'text':
    case 'uuid':
      return `$${number}`
    case 'json':
      return jsonType === 'super' ? `json_parse($${number})` : `$${number}`
    case 'timestamp':
      return `$${number}::timestamptz`
    case 'bigint':
      return `$${number}::bigint`
    case 'double':
      return `$${number}::double precision`
    case 'boolean':
      return `$${number}::boolean`
  }
}

/** Errors: DeliveryError naming what is too long, since cut JSON would be none and Redshift only says that it is. */
function checkedSize(row: Row, columns: readonly Column[], texts: readonly boolean[]): number {
  let size = 0
  for (const [at, value] of row.entries()) {
    const bytes = value === null ? 0 : Buffer.byteLength(value)
    if (texts[at] && bytes > redshiftTextBytesMax) {
      const { name, type } = columns[at]!
      const remedy =
        type === 'json' ? ' Set properties_data_type to super, and choose another table_name.' : ''
      throw new DeliveryError(
        'permanent',
        `A value of ${name} has ${bytes} bytes, and Redshift's longest VARCHAR ${redshiftTextBytesMax}.${remedy}`,
      )
    }
    size += bytes
  }
  return size
}
