// A database for tests of the persons, with the projects 1 and 2, and events for their journal.

import type { Test } from 'tap'
import type { EventBatch } from '../../src/capture/event-batch.ts'
import { encodeCommand } from '../../src/consumer/command.ts'
import type { Appended, Journal, Lane } from '../../src/journal/journal.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { capturedBatch, type SentEvent } from '../identity/captured.ts'
import { freshDatabase, silentLog } from '../support/postgres.ts'

export interface PersonsDatabase {
  readonly connectionString: string
  readonly postgres: Postgres
}

export async function personsDatabase(t: Test): Promise<PersonsDatabase> {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  await addProjects(postgres)
  return { connectionString, postgres }
}

/** Adds the projects 1 and 2 to an empty database. */
export async function addProjects(postgres: Postgres): Promise<void> {
  const id = '00000000-0000-4000-8000-000000000001'
  await postgres.query(`insert into organization (id, name, slug) values ($1, 'One', 'one')`, [id])
  await postgres.query(
    `insert into project (id, uuid, organization_id, api_token)
     select n, gen_random_uuid(), $1, 'phc_' || n from generate_series(1, 2) as n`,
    [id],
  )
}

/** The journal's writing side, real or in memory. */
export type Appender = Pick<Journal, 'append'>

/** Captures events and appends them as one record, as the server does. A uuid that comes again is a duplicate. */
export function appendEvents(
  journal: Appender,
  events: readonly SentEvent[],
  lane: Lane = 'realtime',
  projectId = 1,
): Promise<Appended> {
  const batch = capturedBatch(events, { projectId, historical: lane === 'historical' })
  if (batch === null) throw new Error('capture dropped all events')
  return appendBatch(journal, batch, lane)
}

export function appendBatch(
  journal: Appender,
  batch: EventBatch,
  lane: Lane = 'realtime',
): Promise<Appended> {
  const { count } = batch.header
  const words = new Uint32Array(batch.uuids.slice().buffer)
  const dedupKeys = Uint32Array.from({ length: count * 2 }, (_, i) => words[(i >> 1) * 4 + 2 + (i & 1)]!)
  // The columns are views on the encoded batch, which has its memory to itself.
  const payload = new Uint8Array(batch.uuids.buffer.slice(0) as ArrayBuffer)
  return journal.append(lane, [{ kind: 'events', payload, eventCount: count, dedupKeys }])
}

export function deletePerson(
  journal: Appender,
  personUuid: string,
  deletesEvents: boolean,
  deletedAtMs = 0,
): Promise<Appended> {
  const deletion = { command: 'delete_person', projectId: 1, personUuid, deletesEvents, deletedAtMs } as const
  const payload = encodeCommand(deletion)
  return journal.append('realtime', [{ kind: 'command', payload, eventCount: 0, dedupKeys: null }])
}

export function deleteProject(journal: Appender, projectId: number): Promise<Appended> {
  const payload = encodeCommand({ command: 'delete_project', projectId })
  return journal.append('realtime', [{ kind: 'command', payload, eventCount: 0, dedupKeys: null }])
}
