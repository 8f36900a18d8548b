// The projects of a load of many, put straight into the tables.

import { openPostgres } from '../src/postgres/pool.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { sendSentinel } from './sentinel.ts'
import type { ServerProcess } from './server-process.ts'
import { projectKeyOf } from './workload.ts'

/** Adds the projects behind the first one, and returns when the server takes events for the last. */
export async function addProjects(server: ServerProcess, count: number): Promise<void> {
  if (count <= 1) return
  const keys = Array.from({ length: count - 1 }, (_, index) => projectKeyOf(server.projectApiKey, index + 1))
  const postgres = openPostgres({ connectionString: await server.databaseUrl(), log })
  try {
    await postgres.query(
      `insert into project (uuid, organization_id, api_token)
       select gen_random_uuid(), organization_id, key from project, unnest($2::text[]) key where id = $1`,
      [server.projectId, keys],
    )
  } finally {
    await postgres.close()
  }
  const last = { port: server.port, projectApiKey: keys.at(-1)! } // there are two at least
  await sendSentinel(last, 'realtime', 'the last project')
}
