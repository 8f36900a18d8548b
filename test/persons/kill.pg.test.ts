import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { bornIdOf } from '../../src/identity/born-id.ts'
import type { DeletePersonInput } from '../../src/identity/operations.ts'
import { openJournal } from '../../src/journal/client.ts'
import type { JournalState, Lane } from '../../src/journal/journal.ts'
import { personsKillPoints } from '../../src/kill-point.ts'
import type { SentEvent } from '../identity/captured.ts'
import { MemoryStore } from '../identity/memory-store.ts'
import { dumpPostgres, replayOutbox } from './postgres-dump.ts'
import { eventsOf } from './store-contract.ts'
import { appendEvents, deletePerson, type PersonsDatabase, personsDatabase } from './world.ts'

const child = fileURLToPath(new URL('kill-child.js', import.meta.url))

interface World extends PersonsDatabase {
  readonly dir: string
  readonly state: JournalState
  /** What the database must hold when all is applied. */
  readonly expected: MemoryStore
}

/** 24 records of 300 events, a third of which connect ids, and deletions between; each lane has people of its own. */
async function makeWorld(t: Test): Promise<World> {
  const dir = join(t.testdir(), 'journal')
  const journal = await openJournal({ dir, quarantineDir: dir })
  const expected = new MemoryStore(1, 2)
  for (let record = 0; record < 24; record++) {
    const lane: Lane = record % 3 === 2 ? 'historical' : 'realtime'
    const events = Array.from({ length: 300 }, (_, i) => eventAt(record * 300 + i, lane))
    await appendEvents(journal, events, lane)
    expected.step(eventsOf(events, { historical: lane === 'historical' }))
    const deletion = deletionAt(record, expected)
    await deletePerson(journal, deletion.personUuid, deletion.deletesEvents, deletion.deletedAtMs)
    expected.step([deletion])
  }
  const state = journal.state()
  await journal.close()
  if (expected.tombstones.size === 0) throw new Error('no deletion met a person')
  return { ...(await personsDatabase(t)), dir, state, expected }
}

function eventAt(n: number, lane: Lane): SentEvent {
  const uuid = `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
  const id = `${lane} ${n % 70}`
  if (n % 3 > 0) return { uuid, event: 'e', distinct_id: id, properties: { $set: { n: n % 11 } } }
  const other = `${lane} ${(n * 7) % 90}`
  return { uuid, event: '$merge_dangerously', distinct_id: id, properties: { alias: other, $set: { n } } }
}

/** Now and then a person that is there, with all it was merged from; else one that was merged away, or never was. */
function deletionAt(record: number, store: MemoryStore): DeletePersonInput {
  const id = `realtime ${record * 3}`
  const personUuid = (record % 5 === 4 ? store.person(id)?.uuid : null) ?? bornIdOf(1, id)
  const deletesEvents = record % 2 === 0
  return { kind: 'delete_person', projectId: 1, personUuid, deletesEvents, deletedAtMs: 1_000 + record }
}

/** Runs the child to its end and says how it ended. */
function run(world: World, killPoint: string, killAfterMs: number | null = null): Promise<string> {
  return new Promise((resolve) => {
    const args = [child, world.dir, JSON.stringify(world.state), world.connectionString, killPoint]
    const running = spawn(process.execPath, args, { stdio: 'inherit' })
    const timer = killAfterMs === null ? null : setTimeout(() => running.kill('SIGKILL'), killAfterMs)
    running.on('exit', (code, signal) => {
      if (timer !== null) clearTimeout(timer)
      resolve(signal ?? String(code))
    })
  })
}

async function expectEverythingOnce(t: Test, world: World): Promise<void> {
  t.equal(await run(world, 'none'), '0')
  const { overrides, tombstones, mirroredTypes } = world.expected
  t.same(await dumpPostgres(world.postgres), world.expected.dump())
  t.same(await replayOutbox(world.postgres), { isDense: true, overrides, tombstones, mirroredTypes })
}

for (const killPoint of personsKillPoints) {
  t.test(`applies everything once after a kill at ${killPoint}, again and again`, async (t) => {
    const world = await makeWorld(t)
    for (let i = 0; i < 2; i++) t.equal(await run(world, killPoint), 'SIGKILL')
    await expectEverythingOnce(t, world)
  })
}

t.test('applies everything once after kills at any time', async (t) => {
  const world = await makeWorld(t)
  // Node takes a few hundred milliseconds to start: these fall before, into and behind the work.
  for (const afterMs of [250, 350, 450, 550, 650]) await run(world, 'none', afterMs)
  await expectEverythingOnce(t, world)
})
