import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ServiceError } from '../../src/errors.ts'
import { type Events, openEvents } from '../../src/events/client.ts'
import type { EventsTasks } from '../../src/events/messages.ts'
import type { MirrorCursor, MirrorPage } from '../../src/events/mirror-page.ts'
import { MirrorWriter } from '../../src/events/mirror-writer.ts'
import { openJournal } from '../../src/journal/client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openMirror } from '../../src/mirror/mirror.ts'
import { readNext } from '../../src/mirror/outbox.ts'
import type { ChangesEnd } from '../../src/persons/persons-store.ts'
import { uuidOf } from '../events/make-batch.ts'
import { addProjects } from '../persons/world.ts'
import { freshPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { Outbox } from './outbox-world.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** An events store, Postgres with an outbox, and a mirror between them. */
async function open(t: Test, outbox?: Outbox, dir = t.testdir(), clock = systemClock) {
  const box = outbox ?? (await openOutbox(t))
  const journalDir = join(dir, 'journal')
  const journal = await openJournal({ dir: journalDir, quarantineDir: join(dir, 'quarantine') })
  const events: Events = openEvents({
    dataDir: dir,
    journalDir,
    journal,
    memoryLimitBytes: 256 * 1024 * 1024,
    threads: 2,
    log: quiet,
    clock: systemClock,
    killAt: null,
  })
  const listeners: (() => void)[] = []
  const checkpointListeners: (() => void)[] = []
  const checkpoint = () => {
    events.mirror.checkpointed(events.mirror.state()?.cursor ?? null)
    for (const listener of checkpointListeners) listener()
  }
  const persons = {
    changes: null as ChangesEnd | null,
    isAway: false,
    /** What the consumer does after a step. */
    async applied() {
      this.changes = await box.end()
      for (const listener of listeners) listener()
    },
  }
  const mirror = openMirror({
    postgres: {
      query: (sql, params) => {
        if (persons.isAway) return Promise.reject(new Error('no connection'))
        return box.postgres.query(sql, params)
      },
    },
    events: {
      mirror: events.mirror,
      onCheckpoint: (listener) => checkpointListeners.push(listener as () => void),
    },
    persons: {
      state: () => ({ changes: persons.changes }),
      onApplied: (listener) => listeners.push(listener as () => void),
    },
    log: quiet,
    clock,
  })
  const close = async () => {
    await mirror.close()
    await journal.close()
    await events.close()
  }
  return { box, events, mirror, persons, dir, checkpoint, close }
}

async function openOutbox(t: Test): Promise<Outbox> {
  const postgres = await freshPostgres(t)
  await addProjects(postgres)
  const outbox = new Outbox(postgres)
  await outbox.begin()
  return outbox
}

type World = Awaited<ReturnType<typeof open>>

async function mirrored({ mirror, persons }: World): Promise<void> {
  await persons.applied()
  await until(() => mirror.state().waiting === 0)
}

/** The mirror as reads see it. */
async function overrides({ events }: World): Promise<string[]> {
  const { rows } = await events.query(
    `select right(born_id::varchar, 2) || ' → ' || right(arg_max(person_id, seq)::varchar, 2) from (
       select generation, -1 as seq, born_id, person_id from person_override
       union all select generation, seq, born_id, person_id from person_override_change)
     where generation = (select max(generation) from mirror where rest is null)
     group by born_id order by 1`,
  )
  return rows.map(([row]) => String(row))
}

t.test('what the consumer changes comes to the events store, in pages', async (t) => {
  const world = await open(t)
  await mirrored(world)
  t.same(await overrides(world), [])
  await world.box.move(1, 2)
  await world.box.move(3, 2)
  await mirrored(world)
  t.same(await overrides(world), ['01 → 02', '03 → 02'])
  await world.box.moveMany(12_000)
  await mirrored(world)
  const { rows } = await world.events.query('select count(*), max(seq) from person_override_change')
  t.same(rows, [['12002', '12002']])
  const read = await world.events.query('select seq from mirror where rest is null order by seq')
  t.same(read.rows.at(-1), ['12002'])
  t.same(
    read.rows.filter(([seq]) => Number(seq) > 2 && Number(seq) < 12_002),
    [],
    'half a step is not read',
  )
  await world.close()
})

t.test('whoever waits goes on when the events store knows what was changed before', async (t) => {
  const world = await open(t)
  await mirrored(world)
  await t.resolves(world.mirror.waitUntilMirrored(), 'nothing was changed')
  world.persons.isAway = true
  await world.box.move(1, 2)
  await world.persons.applied()
  let isOver = false
  const first = world.mirror.waitUntilMirrored().then(() => {
    isOver = true
  })
  await until(() => world.mirror.state().reason !== null)
  t.equal(isOver, false)
  world.persons.isAway = false
  await first
  t.same(await overrides(world), ['01 → 02'])
  world.persons.isAway = true
  await world.box.move(3, 4)
  await world.persons.applied()
  const last = t.rejects(world.mirror.waitUntilMirrored(), { code: 'stopping' })
  await world.close()
  await last
  await t.rejects(world.mirror.waitUntilMirrored(), { code: 'stopping' })
})

t.test('goes on after a restart where it was', async (t) => {
  const first = await open(t)
  await first.box.move(1, 2)
  await mirrored(first)
  await first.close()
  await first.box.move(3, 4)
  const second = await open(t, first.box, first.dir)
  await mirrored(second)
  t.same(await overrides(second), ['01 → 02', '03 → 04'])
  t.same((await second.events.query('select distinct generation from mirror')).rows, [[1]])
  await second.close()
})

t.test('a store without a mirror copies the tables, also when the outbox has forgotten', async (t) => {
  const box = await openOutbox(t)
  await box.moveMany(11_000)
  await box.move(1, 2)
  await box.deletePerson(5)
  await box.nameType('company', 0)
  await box.postgres.query('delete from store_change')
  const world = await open(t, box)
  await mirrored(world)
  // Of the generation that is read: what was there before it is deleted by the way.
  const { rows } = await world.events.query(
    `with read as (select max(generation) as generation from mirror where rest is null)
     select (select count(*) from person_override semi join read using (generation)),
       (select count(*) from person_override_change semi join read using (generation)),
       (select list(born_id::varchar) from person_tombstone semi join read using (generation)),
       (select list(name) from group_type semi join read using (generation))`,
  )
  t.match(rows, [['11002', '0', [/05$/], ['company']]])
  await box.move(3, 4)
  await mirrored(world)
  t.equal((await overrides(world)).includes('03 → 04'), true)
  await world.close()
})

t.test('a database restored from a backup is found out by its end', async (t) => {
  const world = await open(t)
  await world.box.move(1, 2)
  const backup = await world.box.backUp()
  await world.box.move(3, 4)
  await mirrored(world)
  await world.box.restore(backup)
  await mirrored(world)
  t.same(await overrides(world), ['01 → 02'])
  t.not((await world.box.end()).epoch, backup.epoch, 'the epoch is renewed')
  await world.box.move(5, 6)
  await mirrored(world)
  t.same(await overrides(world), ['01 → 02', '05 → 06'])
  await world.close()
})

t.test('a restored database that has counted on is found out by the mark of the last change', async (t) => {
  const world = await open(t)
  await world.box.move(1, 2)
  const backup = await world.box.backUp()
  await world.box.move(3, 4)
  await mirrored(world)
  await world.box.restore(backup)
  for (const id of [5, 7, 9]) await world.box.move(id, 4)
  await mirrored(world)
  t.same(await overrides(world), ['01 → 02', '05 → 04', '07 → 04', '09 → 04'])
  await world.close()
})

t.test('waits for Postgres, and says why nothing comes', async (t) => {
  const world = await open(t)
  await mirrored(world)
  await world.box.move(1, 2)
  world.persons.isAway = true
  await world.persons.applied()
  await until(() => world.mirror.state().reason !== null)
  t.same(world.mirror.state(), { waiting: 1, reason: 'Error: no connection' })
  world.persons.isAway = false
  await until(() => world.mirror.state().waiting === 0)
  t.same(world.mirror.state(), { waiting: 0, reason: null })
  t.same(await overrides(world), ['01 → 02'])
  await world.close()
})

t.test(
  'a stop mirrors what waits when Postgres is there again, whenever it would be asked next',
  async (t) => {
    const world = await open(t, undefined, t.testdir(), { ...systemClock, monotonicMs: () => 0 })
    await mirrored(world)
    world.persons.isAway = true
    await world.box.move(1, 2)
    await world.persons.applied()
    await until(() => world.mirror.state().reason !== null)
    world.persons.isAway = false
    t.same(await overrides(world), [])
    await world.mirror.close()
    t.same(await overrides(world), ['01 → 02'])
    await world.close()
  },
)

t.test('a stop does not wait for Postgres that stays away', async (t) => {
  const world = await open(t)
  await mirrored(world)
  world.persons.isAway = true
  await world.box.move(1, 2)
  await world.persons.applied()
  await world.mirror.close()
  t.same(await overrides(world), [])
  await world.close()
})

t.test('the outbox forgets what a checkpoint of the events store has made safe', async (t) => {
  const world = await open(t)
  await world.box.moveMany(11_000)
  await mirrored(world)
  t.equal(await world.box.count(), 11_000, 'not before a checkpoint')
  world.checkpoint()
  await world.box.move(1, 2)
  await mirrored(world)
  await until(async () => (await world.box.count()) === 2)
  t.equal((await world.box.end()).seq, 11_001)
  t.equal((await overrides(world)).length, 11_001)
  await world.close()
})

/** A mirror over a store that takes pages, or refuses what it is told to. */
function openOverFake(
  { postgres }: Pick<Outbox, 'postgres'>,
  first: MirrorCursor,
  changes: ChangesEnd | null,
) {
  const world = { cursor: first, pages: [] as MirrorPage[], tended: 0, refused: [] as string[], clock: 0 }
  const writer = new MirrorWriter({
    write: async <K extends 'mirror' | 'tend_mirror'>(kind: K, task: object) => {
      await delay(1)
      if (kind === 'tend_mirror') world.tended++
      if (world.refused.includes(kind)) throw new ServiceError('events_unavailable', { detail: `no ${kind}` })
      if ('page' in task) {
        world.pages.push(task.page as MirrorPage) // the only task with one
        world.cursor = (task.page as MirrorPage).to
      }
      // As the store's thread types the answer of both.
      return { cursor: world.cursor, isTendingDue: true, walBytes: 0 } as EventsTasks[K][1]
    },
    wrote: () => {},
  })
  const warnings: string[] = []
  const mirror = openMirror({
    postgres,
    events: { mirror: writer, onCheckpoint: () => {} },
    persons: { state: () => ({ changes }), onApplied: () => {} },
    log: { warn: (_, message) => warnings.push(message) },
    clock: { nowMs: () => world.clock, monotonicMs: () => world.clock },
  })
  writer.opened({ cursor: first, isTendingDue: true })
  return { world, mirror, warnings }
}

t.test('a stop does not wait for a mirror that copies itself, and finds nothing wrong with it', async (t) => {
  const cursor = { epoch: uuidOf(0xe), seq: 7, mark: uuidOf(7), rest: 'slice 1 of 4' }
  const postgres = {
    ...(await openOutbox(t)).postgres,
    query: () => Promise.reject(new Error('nobody asks')),
  }
  const { world, mirror, warnings } = openOverFake({ postgres }, cursor, { epoch: cursor.epoch, seq: 9 })
  await until(() => world.tended > 2)
  await mirror.close()
  t.same(warnings, [])
  t.same(mirror.state(), { waiting: 2, reason: null })
})

t.test('upkeep that fails does not keep changes from coming, and is tried again later', async (t) => {
  const box = await openOutbox(t)
  const { page } = await readNext(box.postgres, null, 10)
  if (page === null) throw new Error('a mirror that has nothing is sent something')
  const begin = { ...page.to, rest: null }
  await box.move(1, 2)
  await box.move(3, 2)
  for (const rest of [null, 'slice 1 of 4']) {
    const { world, mirror, warnings } = openOverFake(box, { ...begin, rest }, await box.end())
    world.refused.push('tend_mirror')
    await until(() => world.cursor.seq === 2)
    t.same(world.pages[0]?.from, begin, 'a copy that fails is no place to begin at')
    t.same(mirror.state(), { waiting: 0, reason: 'upkeep fails: no tend_mirror' })
    t.same(warnings, ['mirror: its upkeep goes on later: no tend_mirror'])
    t.equal(world.tended, 1)
    world.clock += 1000
    await until(() => world.tended > 1)
    await mirror.close()
  }
})

t.test('changes that fail do not keep upkeep from going on', async (t) => {
  const box = await openOutbox(t)
  const { page } = await readNext(box.postgres, null, 10)
  if (page === null) throw new Error('a mirror that has nothing is sent something')
  await box.move(1, 2)
  const { world, mirror } = openOverFake(box, { ...page.to, rest: null }, await box.end())
  world.refused.push('mirror')
  await until(() => world.tended > 5)
  t.equal(mirror.state().reason, null, 'it is upkeep first')
  await mirror.close()
})
