// Rows go into the table by a statement that selects them from a function of ours, which gives the chunk that waits.
//
// DuckDB's appender would collect a copy of the rows, plan the same statement anew for each flush, and block this
// thread until it has run. The statement runs beside this thread, which answers it twice: with the rows, and with none.

import { type DuckDBConnection, type DuckDBPreparedStatement, DuckDBTableFunction } from '@duckdb/node-api'
import { assert } from '../lib/assert.ts'
import { columnTypes, type RowChunk } from './row-chunk.ts'

const rowsFunction = 'spate_rows'

/** What the next run inserts. */
interface Source {
  chunk: RowChunk | null
}

export class RowInsert {
  readonly #statement: DuckDBPreparedStatement
  readonly #source: Source

  private constructor(statement: DuckDBPreparedStatement, source: Source) {
    this.#statement = statement
    this.#source = source
  }

  /** Registers the function with the instance of `connection`: once. */
  static async open(connection: DuckDBConnection): Promise<RowInsert> {
    const source: Source = { chunk: null }
    const rows = DuckDBTableFunction.create({
      name: rowsFunction,
      bindFunction: (info) => {
        for (const [name, type] of columnTypes) info.addResultColumn(name, type)
      },
      // One thread asks, so that rows keep their order.
      initFunction: (info) => info.setMaxThreads(1),
      mainFunction: (_info, output) => {
        if (source.chunk === null) output.rowCount = 0
        else source.chunk.copyTo(output)
        source.chunk = null
      },
    })
    connection.registerTableFunction(rows)
    rows.destroySync()
    return new RowInsert(
      await connection.prepare(`insert into event select * from ${rowsFunction}()`),
      source,
    )
  }

  /** Inserts the rows of `chunk`, which nobody may change meanwhile. One at a time. Errors: DuckDB's. */
  async run(chunk: RowChunk): Promise<void> {
    assert(this.#source.chunk === null, 'one chunk is inserted at a time')
    this.#source.chunk = chunk
    try {
      const { rowsChanged } = await this.#statement.run()
      assert(rowsChanged === chunk.rows, `${rowsChanged} of ${chunk.rows} rows were inserted`)
    } finally {
      this.#source.chunk = null
    }
  }

  close(): void {
    this.#statement.destroySync()
  }
}
