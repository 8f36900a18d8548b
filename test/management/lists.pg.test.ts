// Every list of the API that comes in pages, those that are added later included.

import t from 'tap'
import { tenantIn } from '../../src/api/access.ts'
import type { InputSchema } from '../../src/api/input-schema.ts'
import type { Operation } from '../../src/api/operation.ts'
import { managementOperations } from '../../src/management/routes.ts'
import type { Postgres } from '../../src/postgres/pool.ts'
import { ids, jsonOf, openWorld } from '../api/world.ts'
import { fill } from './sweep.ts'

const exportId = '00000000-0000-4000-8000-0000000000e1'

t.test('a page of any list is one statement, behind those that let the caller in', async (t) => {
  const statements: string[] = []
  const world = await openWorld(t, { onStatement: (sql) => statements.push(sql) })
  await fillExport(world.postgres)
  const lists = managementOperations(world.management).filter(isList)
  t.ok(lists.length >= 20, `${lists.length} lists`)
  for (const list of lists) {
    const path = `${fill(list, ids.ours, ids.ourProject, innerId(list))}${required(list)}`
    const ask = async () => await world.get(path, 'phx_owner')
    const first = await ask()
    t.equal(first.status, 200, `${list.path} ${first.text}`)
    t.same(Object.keys(jsonOf(first)), ['count', 'next', 'previous', 'results'], list.path)
    statements.length = 0
    await ask()
    // The key; the tenant; the walls; the list.
    const letIn = tenantIn(list.path) === null ? 2 : 3
    if (statements.length !== letIn + 1)
      t.fail(`${list.path} has ${statements.length}: ${statements.join(';')}`)
  }
})

t.test('what belongs to an export that is not is not found, also where it would be empty', async (t) => {
  const world = await openWorld(t)
  await fillExport(world.postgres)
  for (const what of ['runs', 'backfills', 'logs']) {
    const at = async (tenant: string, id: string, key = 'phx_member') =>
      (await world.get(`/api/${tenant}/batch_exports/${id}/${what}/`, key)).status
    t.equal(await at('projects/1', exportId), 200)
    t.equal(await at('projects/2', exportId), 404, what)
    t.equal(await at('projects/1', ids.nobodys), 404, what)
    t.equal(await at(`organizations/${ids.theirs}`, exportId, 'phx_stranger'), 404, what)
  }
})

function isList({ method, response }: Operation): boolean {
  const { properties = {} } = (response ?? {}) as InputSchema // a TypeBox schema is a JSON Schema
  return method === 'GET' && 'count' in properties && 'results' in properties
}

function innerId({ path }: Operation): string | number {
  return path.includes('batch_exports') ? exportId : 1
}

/** Query parameters that a list does not do without. */
function required({ query }: Operation): string {
  const names: readonly string[] = query?.required ?? []
  return names.length === 0 ? '' : `?${names.map((name) => `${name}=0`).join('&')}`
}

/** An export with a run, a backfill and a line in its log. */
async function fillExport(postgres: Postgres): Promise<void> {
  await postgres.query(
    `insert into batch_export (id, project_id, name, destination_type, destination_config, interval, created_at,
       last_updated_at) values ($1, 1, 'one', 'NoOp', '{}', 'hour', now(), now())`,
    [exportId],
  )
  await postgres.query(
    `insert into batch_export_run (id, project_id, batch_export_id, status, created_at, last_updated_at)
     values ($1, 1, $1, 'Running', now(), now())`,
    [exportId],
  )
  await postgres.query(
    `insert into batch_export_backfill (id, project_id, batch_export_id, status, created_at, last_updated_at)
     values ($1, 1, $1, 'Running', now(), now())`,
    [exportId],
  )
  await postgres.query(
    `insert into batch_export_log (project_id, batch_export_id, level, message, timestamp)
     values (1, $1, 'INFO', 'hello', now())`,
    [exportId],
  )
}
