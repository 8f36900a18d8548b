import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import { failureOf } from '../../src/events/failure.ts'
import { RowChunk } from '../../src/events/row-chunk.ts'
import { RowInsert } from '../../src/events/row-insert.ts'
import { applySchema } from '../../src/events/schema.ts'
import type { Position } from '../../src/journal/journal.ts'
import { makeBatch, plainRows } from './make-batch.ts'

async function world() {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await applySchema(connection, 0)
  const insert = await RowInsert.open(connection)
  t.teardown(() => {
    insert.close()
    connection.closeSync()
    instance.closeSync()
  })
  const chunk = new RowChunk()
  const append = (from: number, count: number) => {
    const batch = openEventBatch(makeBatch({ rows: plainRows(from, count) }))
    chunk.append(batch, from as Position, 0, 0, count) // made up
  }
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson()
  return { instance, connection, insert, chunk, append, read }
}

t.test('inserts the rows of a chunk, and gives them to nobody else', async (t) => {
  const { insert, chunk, append, read } = await world()
  append(0, 3)
  await insert.run(chunk)
  t.strictSame(await read('select count(*) from spate_rows()'), [['0']])
  chunk.clear()
  append(3, 2)
  await insert.run(chunk)
  t.strictSame(await read('select list(position order by rowid)::varchar from event'), [['[0, 0, 0, 3, 3]']])
})

t.test('tells what kind of error it was, and goes on in the next transaction', async (t) => {
  const { connection, insert, chunk, append, read } = await world()
  append(0, 3)
  await connection.run('begin')
  await t.rejects(connection.run("insert into event (event) values ('x')"), { message: /^Constraint Error/ })
  const error = await insert.run(chunk).catch((error: unknown) => error)
  t.match(error, { message: /^TransactionContext Error: / })
  t.equal(failureOf(error), 'transient')
  await connection.run('rollback')
  await insert.run(chunk)
  t.strictSame(await read('select count(*) from event'), [['3']])
})
