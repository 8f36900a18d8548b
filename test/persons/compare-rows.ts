// Applies histories to the store in Postgres and to the plain one in memory: both must hold the same rows.

import type { Test } from 'tap'
import { createRandom } from '../../bench/random.ts'
import type { UnreadInput } from '../../src/identity/operations.ts'
import type { PostgresStore } from '../../src/persons/postgres-store.ts'
import type { Postgres } from '../../src/postgres/pool.ts'
import { inputsOf } from '../identity/check-history.ts'
import type { History } from '../identity/histories.ts'
import { MemoryStore } from '../identity/memory-store.ts'
import { dumpPostgres, replayOutbox } from './postgres-dump.ts'
import { at, stepOf, takeAgain } from './store-contract.ts'
import type { PersonsDatabase } from './world.ts'

/** What a history gives a store, step by step. */
export function stepsOf({ happenings, cuts }: Pick<History, 'happenings' | 'cuts'>): UnreadInput[][] {
  const ends = [...new Set([...cuts, happenings.length])]
    .filter((end) => end <= happenings.length)
    .sort((a, b) => a - b)
  return ends.map((end, index) => inputsOf(happenings.slice(index === 0 ? 0 : ends[index - 1], end)))
}

/**
 * Each history begins with empty tables and a store that remembers nothing. In every other one, so does about each
 * second step: all that is remembered then are the rows.
 */
export async function compareRows(
  t: Test,
  { postgres }: PersonsDatabase,
  store: PostgresStore,
  histories: readonly (readonly (readonly UnreadInput[])[])[],
): Promise<void> {
  t.teardown(() => store.close())
  const random = createRandom(5)
  for (const [index, steps] of histories.entries()) {
    await clear(postgres)
    let offsets = (await takeAgain(store))!.offsets
    const memory = new MemoryStore(1, 2)
    for (const inputs of steps) {
      if (index % 2 === 1 && random.below(2) === 0) await takeAgain(store)
      memory.step(inputs)
      const to = at(offsets.realtime.position + 8)
      t.equal(await store.apply(stepOf(offsets, to, inputs)), true)
      offsets = to
      spoil(inputs)
    }
    const { overrides, tombstones, mirroredTypes } = memory
    t.same(await dumpPostgres(postgres), memory.dump())
    t.same(await replayOutbox(postgres), { isDense: true, overrides, tombstones, mirroredTypes })
  }
}

/** The journal's reader uses the memory of a step again for the next. */
function spoil(inputs: readonly UnreadInput[]): void {
  for (const input of inputs) if (input.kind === 'events') new Uint8Array(input.batch.uuids.buffer).fill(0xee)
}

async function clear(postgres: Postgres): Promise<void> {
  await postgres.query(
    `truncate person, person_distinct_id, project_group, group_type, person_override, person_tombstone, usage_daily,
       store_change, ingestion_warning`,
  )
  await postgres.query('update persons_progress set change_seq = 0')
  await postgres.query('update project set ingested_event = false, has_group_types = false')
}
