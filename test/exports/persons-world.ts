// Persons in the database of an exports' world, changed by the persons consumer's own store.

import type { Test } from 'tap'
import type { UnreadInput } from '../../src/identity/operations.ts'
import { PostgresStore } from '../../src/persons/postgres-store.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import type { SentEvent } from '../identity/captured.ts'
import { at, epoch, eventsOf, stepOf } from '../persons/store-contract.ts'
import { silentLog } from '../support/postgres.ts'
import type { ExportsWorld } from './world.ts'

export interface Persons {
  /** One step at the time it is. */
  apply(inputs: readonly UnreadInput[]): Promise<void>
  set(distinctId: string, properties: object, projectId?: number): Promise<void>
  identify(distinctId: string, anonymousId: string): Promise<void>
  delete(distinctId: string): Promise<void>
}

export async function openPersons(t: Test, world: ExportsWorld): Promise<Persons> {
  const postgres = openPostgres({ connectionString: world.connectionString, log: silentLog })
  const store = new PostgresStore({
    postgres,
    cacheBytesMax: 1_000_000,
    loadedBytesMax: 1_000_000,
    killAt: null,
  })
  t.teardown(() => store.close())
  let { offsets } = await store.take(epoch)
  const apply: Persons['apply'] = async (inputs) => {
    const to = at(offsets.realtime.position + 80)
    await store.apply({ ...stepOf(offsets, to, inputs), nowMs: world.nowMs })
    offsets = to
  }
  const send = (event: SentEvent, projectId = 1): Promise<void> =>
    apply(eventsOf([event], { projectId, receivedAtMs: world.nowMs }))
  return {
    apply,
    set: (distinct_id, $set, projectId) => send({ event: '$set', distinct_id, $set }, projectId),
    identify: (distinct_id, $anon_distinct_id) =>
      send({ event: '$identify', distinct_id, properties: { $anon_distinct_id } }),
    async delete(distinctId) {
      const { rows } = await world.postgres.query<{ person_uuid: string }>(
        'select person_uuid from person_distinct_id where project_id = 1 and distinct_id = $1',
        [distinctId],
      )
      const personUuid = rows[0]!.person_uuid // the tests delete those who are there
      await apply([{ kind: 'delete_person', projectId: 1, personUuid, deletesEvents: false, deletedAtMs: 0 }])
    },
  }
}
