import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Mirror, type MirrorOptions } from '../../src/events/mirror.ts'
import type { MirrorChange, MirrorCursor, MirrorPage } from '../../src/events/mirror-page.ts'
import type { StoreChange } from '../../src/identity/changes.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { uuidOf } from './make-batch.ts'
import { FakeJournal, openWorld, type World } from './world.ts'

const epochA = uuidOf(0xe0a)
const epochB = uuidOf(0xe0b)

/** A place in the outbox; every change of an epoch has a mark of its own. */
function at(seq: number, rest: string | null = null, epoch = epochA): MirrorCursor {
  return { epoch, seq, mark: seq === 0 ? null : uuidOf(0xf0000 + seq), rest }
}

function page(from: MirrorCursor | null, to: MirrorCursor, changes: readonly MirrorChange[]): MirrorPage {
  return { from, to, isAnew: from?.epoch !== to.epoch, changes }
}

const override = (seq: number, born: number, person: number, projectId = 1): MirrorChange => ({
  seq,
  change: { kind: 'override', projectId, bornId: uuidOf(born), personUuid: uuidOf(person) },
})

const told = (seq: number, change: StoreChange): MirrorChange => ({ seq, change })

const startMs = 1_714_564_800_000

/** One event of each of the ids 1 to 6, received one second after the other, in project 1; the last is anonymous. */
function sixEvents(): FakeJournal {
  const journal = new FakeJournal()
  for (let n = 1; n <= 6; n++) {
    const properties = n === 1 ? '{"plain":1.0}' : `{"$groups":{"company":"acme ${n}"}}`
    const row = { uuid: uuidOf(n), bornId: uuidOf(n), properties, anonymous: n === 6 }
    journal.append({ rows: [row], receivedAtMs: startMs + n * 1000 })
  }
  return journal
}

async function open(t: Test, options: Partial<MirrorOptions> = {}, dir = t.testdir()) {
  const world = await openWorld(dir, sixEvents())
  await world.applyAll()
  const reopen = () => Mirror.open(world.store.writer, { clock: systemClock, killAt: null, ...options })
  return { dir, world, mirror: await reopen(), reopen }
}

/** Last digits of the persons of the events, in the order of the events. */
async function personsOf({ select }: World): Promise<string> {
  const rows = await select('select right(person_id::varchar, 2) from events order by position')
  return rows.map(([person]) => person).join(' ')
}

async function tendAll(mirror: Mirror): Promise<number> {
  let count = 0
  for (; mirror.mirrored.isTendingDue; count++) await mirror.tend()
  return count
}

t.test('an event belongs to whom it was born to until the mirror hears more', async (t) => {
  const { world, mirror } = await open(t)
  t.equal(mirror.mirrored.cursor, null)
  t.equal(await personsOf(world), '01 02 03 04 05 06')
  await mirror.apply(page(null, at(0), []))
  await mirror.apply(page(at(0), at(3), [override(1, 1, 2), override(2, 3, 2), override(3, 1, 4)]))
  t.equal(await personsOf(world), '04 02 02 04 05 06', 'the latest change of an id holds')
  await mirror.apply(page(at(3), at(4), [override(4, 1, 1)]))
  t.equal(await personsOf(world), '01 02 02 04 05 06')
  t.same(mirror.mirrored, { cursor: at(4), isTendingDue: false })
  world.close()
})

t.test('an override of another project changes nothing', async (t) => {
  const { world, mirror } = await open(t)
  await mirror.apply(page(null, at(1), [override(1, 1, 2, 7)]))
  t.equal(await personsOf(world), '01 02 03 04 05 06')
  world.close()
})

t.test('a page is written once, and only where it belongs', async (t) => {
  const { world, mirror, reopen } = await open(t)
  await mirror.apply(page(null, at(0), []))
  const first = page(at(0), at(1), [override(1, 1, 2)])
  await mirror.apply(first)
  t.same((await mirror.apply(first)).cursor, at(1), 'an answer was lost')
  t.same((await mirror.apply(page(at(2), at(3), [override(3, 1, 5)]))).cursor, at(1), 'a gap')
  const otherMark = { ...at(1), mark: uuidOf(0xbad) }
  t.same((await mirror.apply(page(otherMark, at(2), [override(2, 1, 5)]))).cursor, at(1), 'another history')
  t.same(await world.select('select count(*) from person_override_change'), [['1']])
  t.same((await reopen()).mirrored.cursor, at(1), 'and the store knows it too')
  world.close()
})

t.test('events of a deleted person are hidden up to the moment of the deletion', async (t) => {
  const { world, mirror } = await open(t)
  const gone = (seq: number, n: number, ms: number) =>
    told(seq, { kind: 'person_tombstone', projectId: 1, bornId: uuidOf(n), deletedAtMs: startMs + ms })
  await mirror.apply(page(null, at(0), []))
  await mirror.apply(page(at(0), at(3), [gone(1, 1, 1000), gone(2, 2, 1999), gone(3, 3, 60_000)]))
  t.equal(await personsOf(world), '02 04 05 06', 'received at that moment, 1 ms after it, before it')
  await mirror.apply(page(at(3), at(4), [gone(4, 3, 1)]))
  t.equal(await personsOf(world), '02 04 05 06', 'an earlier deletion brings nothing back')
  world.close()
})

t.test('an event has $group_N for the kinds of groups it names, unless it is anonymous', async (t) => {
  const { world, mirror } = await open(t)
  const kind = (seq: number, index: number, name: string, projectId = 1) =>
    told(seq, { kind: 'group_type', projectId, index, name })
  await mirror.apply(page(null, at(0), []))
  await mirror.apply(
    page(at(0), at(3), [kind(1, 0, 'team'), kind(2, 1, 'company'), kind(3, 0, 'company', 2)]),
  )
  const rows = await world.select('select properties from events order by position')
  t.same(rows[0], ['{"plain":1.0}'])
  t.same(rows[1], ['{"$group_1":"acme 2","$groups":{"company":"acme 2"}}'])
  t.same(rows[5], ['{"$groups":{"company":"acme 6"}}'])
  t.same(
    await world.select(`select count(*) from events where properties->>'/$group_1' = 'acme 3'`),
    [['1']],
    'and can be found by it',
  )
  world.close()
})

t.test('a mirror that begins anew is read once its base is complete', async (t) => {
  const { world, mirror } = await open(t)
  await mirror.apply(page(null, at(0), []))
  await mirror.apply(page(at(0), at(1), [override(1, 1, 2)]))
  const anew = at(7, 'all', epochB)
  await mirror.apply(page(at(1), anew, []))
  await mirror.apply(page(anew, at(7, 'half', epochB), [override(7, 1, 4)]))
  t.equal(await personsOf(world), '02 02 03 04 05 06', 'the one before is read meanwhile')
  await mirror.apply(page(at(7, 'half', epochB), at(7, null, epochB), [override(7, 3, 4)]))
  t.equal(await personsOf(world), '04 02 04 04 05 06')
  await mirror.apply(page(at(7, null, epochB), at(8, null, epochB), [override(8, 3, 5)]))
  t.equal(await personsOf(world), '04 02 05 04 05 06')
  t.equal(await tendAll(mirror), 2, 'what was before is removed')
  t.same(await world.select('select count(*) from person_override_change'), [['1']])
  t.same(await world.select('select distinct generation from mirror'), [[2]])
  t.equal(await personsOf(world), '04 02 05 04 05 06')
  world.close()
})

t.test('a mirror that begins anew is read when it has the changes behind its base', async (t) => {
  const { world, mirror } = await open(t)
  const anew = at(7, 'all', epochB)
  await mirror.apply(page(null, anew, []))
  const whole = at(7, 'changes', epochB)
  await mirror.apply(page(anew, whole, [override(7, 1, 2), override(7, 3, 2)]))
  await mirror.apply(page(whole, at(8, 'changes', epochB), [override(8, 1, 4)]))
  t.equal(await personsOf(world), '01 02 03 04 05 06')
  await mirror.apply(page(at(8, 'changes', epochB), at(9, null, epochB), [override(9, 3, 4)]))
  t.equal(await personsOf(world), '04 02 04 04 05 06', 'each event once')
  world.close()
})

t.test('a step that comes in several pages is read when it is whole', async (t) => {
  const { world, mirror, reopen } = await open(t, { copyChangesMin: 2 })
  await mirror.apply(page(null, at(0), []))
  await mirror.apply(page(at(0), at(1), [override(1, 1, 2)]))
  const properties = () =>
    world.select('select properties from events where position > 0 order by position limit 1')
  const before = [await personsOf(world), await properties()]
  const half = at(3, 'step up to 6')
  const gone = told(4, {
    kind: 'person_tombstone',
    projectId: 1,
    bornId: uuidOf(5),
    deletedAtMs: startMs + 9e3,
  })
  const kind = told(5, { kind: 'group_type', projectId: 1, index: 0, name: 'company' })
  await mirror.apply(page(at(1), half, [override(2, 1, 3), override(3, 3, 3)]))
  t.same([await personsOf(world), await properties()], before)
  t.equal(mirror.mirrored.isTendingDue, false, 'half a step is not copied')
  const next = await reopen()
  const later = at(5, 'step up to 6')
  await next.apply(page(half, later, [gone, kind]))
  t.same([await personsOf(world), await properties()], before)
  await next.apply(page(later, at(6), [override(6, 2, 3)]))
  t.equal(await personsOf(world), '03 03 03 04 06')
  t.match(await properties(), [[/"\$group_0":"acme 2"/]])
  t.equal(next.mirrored.isTendingDue, true)
  await tendAll(next)
  t.equal(await personsOf(world), '03 03 03 04 06')
  world.close()
})

t.test('a page ends a copy, which begins again when its rest is gone', async (t) => {
  const { world, mirror, reopen } = await open(t, { copyChangesMin: 3, sliceRows: 1 })
  await mirror.apply(page(null, at(0), []))
  await mirror.apply(page(at(0), at(3), [override(1, 1, 2), override(2, 3, 2), override(3, 4, 2)]))
  for (let i = 0; i < 3; i++) await mirror.tend()
  t.match(mirror.mirrored.cursor?.rest, /^slice/)
  const stale = page({ ...at(3), mark: uuidOf(0xbad) }, at(4), [])
  t.match((await mirror.apply(stale)).cursor?.rest, /^slice/, 'one that does not belong here ends nothing')
  const next = await reopen()
  t.same((await next.apply(page(at(3), at(4), [override(4, 1, 6)]))).cursor, at(4))
  t.equal(await personsOf(world), '06 02 02 02 05 06')
  t.same((await reopen()).mirrored, next.mirrored, 'and the store knows it too')
  t.ok((await tendAll(next)) > 5)
  t.equal(await personsOf(world), '06 02 02 02 05 06')
  t.same(await world.select('select count(*), count(distinct born_id) from person_override'), [['3', '3']])
  t.same(await world.select('select count(*) from person_override_change'), [['0']])
  t.same(await world.select('select count(distinct generation) from mirror'), [['1']])
  world.close()
})

t.test('copies itself when changes outnumber what there was, slice by slice', async (t) => {
  const { world, mirror, reopen } = await open(t, { copyChangesMin: 6, sliceRows: 2 })
  await mirror.apply(page(null, at(0), []))
  const born = [1, 1, 2, 3, 3, 4].map((id, index) => override(index + 1, id, id === 4 ? 4 : 5 + (index % 2)))
  await mirror.apply(page(at(0), at(5), born.slice(0, 5)))
  t.equal(mirror.mirrored.isTendingDue, false, 'five changes')
  await mirror.apply(page(at(5), at(7), [...born.slice(5), override(7, 9, 1, 3)]))
  t.equal(mirror.mirrored.isTendingDue, true)
  const before = await personsOf(world)
  t.equal(before, '06 05 05 04 05 06')
  await world.store.writer.run('insert into deleted_project values (3, now())')
  let count = 0
  // Whatever ends in between, the next mirror goes on from what is stored.
  for (let one = mirror; one.mirrored.isTendingDue; one = await reopen()) {
    await one.tend()
    count++
    t.equal(await personsOf(world), before)
  }
  const next = await reopen()
  t.same(next.mirrored, { cursor: at(7), isTendingDue: false })
  t.equal(count, 9, 'one to begin, four slices, four removals')
  t.same(await world.select('select count(*) from person_override_change'), [['0']])
  t.same(
    await world.select(
      'select right(born_id::varchar, 1), right(person_id::varchar, 1) from person_override order by 1',
    ),
    [
      ['1', '6'],
      ['2', '5'],
      ['3', '5'],
    ],
    'one row an id; none for the deleted project, nor for an id that belongs to itself',
  )
  await next.apply(page(at(7), at(8), [override(8, 1, 3)]))
  t.equal(await personsOf(world), '03 05 05 04 05 06')
  world.close()
})

t.test(
  'falls back with the store when its write-ahead log is lost, and is sent the same again',
  async (t) => {
    const dir = join(t.testdir({ before: {}, after: {} }), 'before')
    const { world, mirror } = await open(t, {}, dir)
    await mirror.apply(page(null, at(0), []))
    await world.store.writer.run('checkpoint')
    const first = page(at(0), at(2), [override(1, 1, 2), override(2, 3, 4)])
    await mirror.apply(first)
    // A copy of the file as it lies on disk, without the log.
    const copy = join(dir, '../after')
    copyFileSync(join(dir, 'events.duckdb'), join(copy, 'events.duckdb'))
    const fallen = await open(t, {}, copy)
    t.same(fallen.mirror.mirrored.cursor, at(0))
    t.equal(await personsOf(fallen.world), '01 02 03 04 05 06')
    await fallen.mirror.apply(first)
    t.equal(await personsOf(fallen.world), '02 02 04 04 05 06')
    fallen.world.close()
    world.close()
  },
)

t.test('adds nothing when it cannot know whether a page was written', async (t) => {
  const { world } = await open(t)
  const { writer } = world.store
  let isLost = false
  const failing = new Proxy(writer, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return async (sql: string, ...rest: unknown[]) => {
        if (isLost) throw new Error('Out of Memory Error: no reads')
        const result = await value.call(target, sql, ...rest)
        isLost = sql === 'commit'
        if (isLost) throw new Error('IO Error: unknown outcome')
        return result
      }
    },
  })
  const mirror = await Mirror.open(failing, { clock: systemClock, killAt: null })
  await t.rejects(mirror.apply(page(null, at(0), [])), { code: 'storage_failed' })
  world.close()
})

t.test('says that it has not written a page that the store refuses, and stands where it stood', async (t) => {
  const { world, mirror } = await open(t)
  await mirror.apply(page(null, at(0), []))
  await world.store.writer.run('begin')
  await t.rejects(mirror.apply(page(at(0), at(1), [override(1, 1, 2)])), { code: 'events_unavailable' })
  t.same(mirror.mirrored.cursor, at(0))
  await mirror.apply(page(at(0), at(1), [override(1, 1, 2)]))
  t.equal(await personsOf(world), '02 02 03 04 05 06')
  world.close()
})
