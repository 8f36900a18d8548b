// A store with the events of two projects, the persons and groups of both, and people's queries on it.

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Test } from 'tap'
import type { Events } from '../../src/events/client.ts'
import { type CopiedTable, createCopies, fillCopy } from '../../src/events/copied-rows.ts'
import { GivingWay } from '../../src/events/giving-way.ts'
import { Pacing } from '../../src/events/pacing.ts'
import { Readers, runQuery } from '../../src/events/readers.ts'
import { applySchema } from '../../src/events/schema.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { compileQuery, parseQuery } from '../../src/query/compile.ts'
import { tableNames } from '../../src/query/tables.ts'
import { usesOf } from '../../src/query/uses.ts'

export interface World {
  readonly runner: Pick<Events, 'query'>
  /** The rows that project 1 gets for a query. */
  ask(text: string): Promise<readonly (readonly unknown[])[]>
}

export const ourSecret = 'our secret'
export const theirSecret = 'their secret'
const projects = [
  [1, ourSecret],
  [2, theirSecret],
] as const

export async function openWorld(t: Test): Promise<World> {
  const instance = await DuckDBInstance.create(':memory:', {
    // As the store has it: the syntax tree depends on it.
    storage_compatibility_version: 'latest',
    threads: '2',
    memory_limit: '512MB',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await applySchema(connection, 0)
  for (const [projectId, secret] of projects) {
    await connection.run(
      `insert into event
       select $1::integer, ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'event ' || i, $2,
         ('00000000-0000-4000-8000-0000000000' || $1 || i)::uuid,
         '2024-05-01T12:00:00Z'::timestamptz + to_hours(i::integer), '2024-05-01T11:30:00Z',
         json_object('$browser', 'Firefox', 'plan', $2, 'number', i,
           '$group_0', 'acme', '$session_id', 's1', 'deep', json_object('a"b/c', 'found')),
         '', false, false, 0, i * 64, 0
       from range(3) as events(i)`,
      [projectId, secret],
    )
  }
  await connection.run('set enable_external_access = false')
  await connection.run('set lock_configuration = true')
  const givingWay = new GivingWay({ clock: systemClock, isIngesting: () => false })
  const readers = new Readers(instance, systemClock, new Pacing(connection, givingWay, systemClock))
  t.teardown(async () => {
    await readers.close()
    connection.closeSync()
    instance.closeSync()
  })
  const runner: World['runner'] = {
    query: (sql, values = []) => readers.run((reader) => runQuery(reader, sql, values)),
  }
  let id = 0
  const ask = async (text: string) => {
    const statement = await parseQuery(runner, text)
    const sql = await compileQuery(runner, statement, 1, tableNames)
    const { copies } = usesOf(statement)
    const held = ++id
    if (copies.length > 0) await readers.hold(held, (connection) => copyBoth(connection, copies))
    try {
      return (await readers.run((connection) => runQuery(connection, sql, []), { id: held })).rows
    } finally {
      readers.letGo(held)
    }
  }
  return { runner, ask }
}

/** Rows of both projects, which is more than a query ever gets. */
async function copyBoth(connection: DuckDBConnection, tables: readonly CopiedTable[]): Promise<void> {
  await createCopies(connection, tables)
  for (const [projectId, secret] of projects) {
    const properties = JSON.stringify({ email: secret, $browser: 'Firefox', n: projectId })
    const ids = [0, 1].map((index) => `00000000-0000-4000-8000-0000000000${projectId}${index}`)
    const created = '1714564800000000'
    const columns: Readonly<Record<CopiedTable, readonly string[][]>> = {
      person: [ids, [created, created], ['t', 'f'], [properties, '{}']],
      distinct_id: [[JSON.stringify(secret), '"second\\u001e"'], ids],
      group: [
        ['0', '1'],
        ['"acme"', '"acme"'],
        [created, created],
        [properties, '{}'],
      ],
    }
    for (const table of tables) {
      const texts = columns[table].map((values) => values.join('\x1e'))
      await fillCopy(connection, projectId, { table, columns: texts })
    }
  }
}
