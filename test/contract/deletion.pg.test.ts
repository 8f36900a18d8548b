// Deleting persons, the whole way: HTTP, the journal, the persons thread, and back through the API.

import t from 'tap'
import { rowsOf } from '../support/cluster.ts'
import { startServer } from '../support/server.ts'
import { batch, event } from './requests.ts'

const server = await startServer(t)
const persons = `/api/projects/${server.projectId}/persons/`

async function send(...events: Parameters<typeof batch>): Promise<void> {
  const reply = await server.post('/batch/', batch(...events))
  if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`)
}

async function remove(uuid: string, query = ''): Promise<number> {
  const headers = { authorization: `Bearer ${server.personalApiKey}` }
  return (await fetch(`${server.url}${persons}${uuid}/${query}`, { method: 'DELETE', headers })).status
}

async function personOf(distinctId: string): Promise<{ uuid: string; distinct_ids: string[] } | undefined> {
  const { text } = await server.get(`${persons}?distinct_id=${distinctId}`)
  // The list's envelope.
  return (JSON.parse(text) as { results: { uuid: string; distinct_ids: string[] }[] }).results[0]
}

t.test('whoever deletes a person finds it gone, with everything that hung on it', async (t) => {
  const identify = { event: '$identify', properties: { $anon_distinct_id: 'gone-anon' } }
  await send(event('gone-anon'), event('gone', identify))
  await server.settled()
  const { uuid = '', distinct_ids } = (await personOf('gone')) ?? {}
  t.same(distinct_ids, ['gone', 'gone-anon'])
  await rowsOf(
    server.databaseUrl,
    `insert into flag_hash_key_override (project_id, distinct_id, flag_key, hash_key) values (1, 'gone', 'f', 'h')`,
  )

  t.equal(await remove(uuid, '?delete_events=true'), 204)

  t.equal((await server.get(`${persons}${uuid}/`)).status, 404)
  t.equal(await personOf('gone'), undefined)
  t.equal(JSON.parse((await server.get(`${persons}?search=gone`)).text).count, 0)
  t.equal(await remove(uuid), 404)
  t.same(
    await rowsOf(
      server.databaseUrl,
      `select born_id = person_uuid as leads_to_itself, deleted_at::text from person_override
       join person_tombstone using (project_id, born_id)`,
    ),
    [1, 2].map(() => ({ leads_to_itself: true, deleted_at: '2024-05-01 12:00:00+00' })),
  )
  t.same(await rowsOf(server.databaseUrl, 'select * from flag_hash_key_override'), [])

  await send(event('gone'))
  await server.settled()
  t.same((await personOf('gone'))?.distinct_ids, ['gone'])
  t.equal(await personOf('gone-anon'), undefined)
})

t.test('a deletion keeps the events unless they are to go', async (t) => {
  await send(event('kept'))
  await server.settled()
  t.equal(await remove((await personOf('kept'))?.uuid ?? ''), 204)
  t.equal((await server.storedEvents({ distinct_id: 'kept' })).length, 1)
})

t.test('deleting and identifying at once leaves every id with one person or none', async (t) => {
  for (let round = 0; round < 5; round++) {
    const [user, anon] = [`race-user-${round}`, `race-anon-${round}`]
    await send(event(user), event(anon))
    await server.settled()
    const uuids = [(await personOf(user))?.uuid ?? '', (await personOf(anon))?.uuid ?? '']
    const [, ...statuses] = await Promise.all([
      send(event(user, { event: '$identify', properties: { $anon_distinct_id: anon } })),
      ...uuids.map((uuid) => remove(uuid)),
    ])
    for (const status of statuses) t.ok(status === 204 || status === 404, `answered ${status}`)
    await server.settled()
  }
  const broken = await rowsOf(
    server.databaseUrl,
    `select i.distinct_id from person_distinct_id i
     left join person p on p.project_id = i.project_id and p.uuid = i.person_uuid where p.uuid is null
     union all
     select p.uuid::text from person p
     where not exists (select from person_distinct_id i where i.project_id = p.project_id and i.person_uuid = p.uuid)`,
  )
  t.same(broken, [])
})
