// A store with the events of two projects, and people's queries on it.

import { DuckDBInstance } from '@duckdb/node-api'
import type { Test } from 'tap'
import type { Events } from '../../src/events/client.ts'
import { Readers, runQuery } from '../../src/events/readers.ts'
import { applySchema } from '../../src/events/schema.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { compileQuery, parseQuery } from '../../src/query/compile.ts'

export interface World {
  readonly runner: Pick<Events, 'query'>
  /** The rows that project 1 gets for a query. */
  ask(text: string): Promise<readonly (readonly unknown[])[]>
}

export const ourSecret = 'our secret'
export const theirSecret = 'their secret'

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
  for (const [projectId, secret] of [
    [1, ourSecret],
    [2, theirSecret],
  ]) {
    await connection.run(
      `insert into event
       select $1::integer, ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'event ' || i, $2, uuid(),
         '2024-05-01T12:00:00Z'::timestamptz + to_hours(i::integer), '2024-05-01T12:00:00Z',
         json_object('$browser', 'Firefox', 'plan', $2, 'number', i, 'deep', json_object('a"b/c', 'found')),
         '', false, false, 0, i * 64, 0
       from range(3) as events(i)`,
      [projectId!, secret!],
    )
  }
  await connection.run('set enable_external_access = false')
  await connection.run('set lock_configuration = true')
  const readers = new Readers(instance, systemClock)
  t.teardown(async () => {
    await readers.close()
    connection.closeSync()
    instance.closeSync()
  })
  const runner: World['runner'] = {
    query: (sql, values = []) => readers.run((reader) => runQuery(reader, sql, values)),
  }
  const ask = async (text: string) => {
    const statement = await parseQuery(runner, text)
    return (await runner.query(await compileQuery(runner, statement, 1))).rows
  }
  return { runner, ask }
}
