import t, { type Test } from 'tap'
import type { MirrorCursor } from '../../src/events/mirror-page.ts'
import { prune, readNext } from '../../src/mirror/outbox.ts'
import { uuidOf } from '../events/make-batch.ts'
import { addProjects } from '../persons/world.ts'
import { freshPostgres } from '../support/postgres.ts'
import { Outbox } from './outbox-world.ts'

async function open(t: Test): Promise<Outbox> {
  const postgres = await freshPostgres(t)
  await addProjects(postgres)
  const outbox = new Outbox(postgres)
  await outbox.begin()
  return outbox
}

/** Reads on in pages of `rowsMax` until nothing is left. */
async function readAll({ postgres }: Outbox, from: MirrorCursor | null, rowsMax: number) {
  const sizes: number[] = []
  let cursor = from
  for (;;) {
    const { page } = await readNext(postgres, cursor, rowsMax)
    if (page === null) return { cursor, sizes }
    sizes.push(page.changes.length)
    cursor = page.to
  }
}

t.test('there is nothing before the consumer has begun', async (t) => {
  const postgres = await freshPostgres(t)
  t.same(await readNext(postgres, null, 10), { page: null, end: null })
})

t.test('a page holds no more than it may, under, at and over', async (t) => {
  const outbox = await open(t)
  const { cursor: begin } = await readAll(outbox, null, 10)
  await outbox.moveMany(3)
  t.same((await readAll(outbox, begin, 4)).sizes, [3])
  await outbox.moveMany(1)
  t.same((await readAll(outbox, begin, 4)).sizes, [4])
  await outbox.moveMany(1)
  const { cursor, sizes } = await readAll(outbox, begin, 4)
  t.same(sizes, [4, 1])
  t.equal(cursor?.seq, 5)
  t.same((await readAll(outbox, cursor, 4)).sizes, [])
})

t.test('a page ends with a step of the consumer', async (t) => {
  const outbox = await open(t)
  const { cursor: begin } = await readAll(outbox, null, 10)
  for (const count of [2, 1, 3, 2]) await outbox.moveMany(count)
  t.same((await readAll(outbox, begin, 4)).sizes, [3, 3, 2])
  t.same((await readAll(outbox, begin, 5)).sizes, [3, 5])
  t.same((await readAll(outbox, begin, 8)).sizes, [8])
})

t.test('a step that is larger than a page comes in several, and is whole with the last', async (t) => {
  const outbox = await open(t)
  const { cursor: begin } = await readAll(outbox, null, 10)
  await outbox.moveMany(1)
  await outbox.moveMany(7)
  await outbox.moveMany(1)
  const places: string[] = []
  for (let cursor = begin; cursor !== null; ) {
    const { page } = await readNext(outbox.postgres, cursor, 3)
    if (page !== null) places.push(`${page.to.seq} ${page.to.rest?.replace(/ \S+$/, '') ?? 'whole'}`)
    cursor = page?.to ?? null
  }
  t.same(places, ['1 whole', '4 step up to 8', '7 step up to 8', '9 whole'])
})

t.test('changes of an older version, which do not say where a step ends, stand alone', async (t) => {
  const outbox = await open(t)
  const { cursor: begin } = await readAll(outbox, null, 10)
  await outbox.moveMany(5)
  await outbox.postgres.query('update store_change set step_end = null')
  await outbox.moveMany(2)
  const { cursor, sizes } = await readAll(outbox, begin, 3)
  t.same(sizes, [3, 2, 2])
  t.match(cursor, { seq: 7, rest: null })
})

t.test('a database restored within a step that comes in several pages begins a base', async (t) => {
  const outbox = await open(t)
  const { cursor: begin } = await readAll(outbox, null, 10)
  const backup = await outbox.backUp()
  await outbox.moveMany(5)
  const half = (await readNext(outbox.postgres, begin, 2)).page
  t.match(half?.to, { seq: 2, rest: /^step up to 5/ })
  await outbox.postgres.query('delete from store_change where seq = 5')
  t.equal((await readNext(outbox.postgres, begin, 2)).page?.isAnew, true, 'its end is missing')
  await outbox.restore(backup)
  await outbox.moveMany(5)
  t.equal((await readNext(outbox.postgres, half?.to ?? null, 2)).page?.isAnew, true, 'its end is another one')
})

t.test('a base is copied row by row, whatever ends a page', async (t) => {
  const outbox = await open(t)
  await outbox.nameType('company', 0)
  await outbox.nameType('team', 1)
  await outbox.deletePerson(1)
  await outbox.moveMany(4)
  for (const [rowsMax, sizes] of [
    [1, [0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]],
    [5, [0, 2, 1, 5, 0]],
    [6, [0, 2, 1, 5]],
  ] as const) {
    const read = await readAll(outbox, null, rowsMax)
    t.same(read.sizes, sizes)
    t.match(read.cursor, { seq: 8, rest: null })
  }
})

t.test('what happens while a base is copied comes behind it', async (t) => {
  const outbox = await open(t)
  await outbox.moveMany(3)
  const begin = (await readNext(outbox.postgres, null, 2)).page
  await outbox.move(1, 2)
  const { cursor, sizes } = await readAll(outbox, begin?.to ?? null, 2)
  // No kinds of groups, no tombstones, four overrides (one of them is new), and the new one once more.
  t.same(sizes, [0, 0, 2, 2, 0, 1])
  t.equal(cursor?.seq, 4)
})

t.test('a mirror is read once it has what happened while its base was copied', async (t) => {
  const outbox = await open(t)
  await outbox.moveMany(3)
  let page = (await readNext(outbox.postgres, null, 2)).page
  // A change between two pages of the same table, before the one and behind the other.
  for (; page !== null && page.changes.length === 0; )
    page = (await readNext(outbox.postgres, page.to, 2)).page
  await outbox.moveMany(4)
  const rests: (string | null)[] = []
  for (let cursor = page?.to ?? null; cursor !== null; ) {
    rests.push(cursor.rest)
    cursor = (await readNext(outbox.postgres, cursor, 2)).page?.to ?? null
  }
  t.match(rests, [/^person_override/, /^person_override/, /^changes up to 7 /, /^changes up to 7 /, null])
})

t.test('a database restored while a base was copied begins another', async (t) => {
  const outbox = await open(t)
  await outbox.moveMany(3)
  const backup = await outbox.backUp()
  const begin = (await readNext(outbox.postgres, null, 10)).page
  await outbox.move(1, 2)
  let copied = begin
  while (copied !== null && !copied.to.rest?.startsWith('changes'))
    copied = (await readNext(outbox.postgres, copied.to, 10)).page
  t.match(copied?.to, { seq: 3 })
  await outbox.restore(backup)
  t.match(await readNext(outbox.postgres, copied?.to ?? null, 10), { page: { isAnew: true, to: { seq: 0 } } })
  await outbox.restore(backup)
  await outbox.moveMany(2)
  t.match((await readNext(outbox.postgres, copied?.to ?? null, 10)).page, { isAnew: true }, 'by the mark')
})

t.test('an epoch that the mirror does not know, and changes that are missing, begin a base', async (t) => {
  const outbox = await open(t)
  await outbox.moveMany(3)
  const { cursor } = await readAll(outbox, null, 10)
  const foreign = { epoch: uuidOf(0xf), seq: 9, mark: uuidOf(1), rest: null }
  const anew = (await readNext(outbox.postgres, foreign, 10)).page
  t.match(anew, { from: foreign, to: { epoch: cursor?.epoch, seq: 3 }, isAnew: true })

  await outbox.moveMany(2)
  await outbox.postgres.query('delete from store_change where seq = 4')
  const gap = (await readNext(outbox.postgres, cursor, 10)).page
  t.match(gap, { isAnew: true, to: { seq: 0, mark: null } }, 'in a new epoch')
  t.not(gap?.to.epoch, cursor?.epoch)
})

t.test('an end that is missing begins a base too', async (t) => {
  const outbox = await open(t)
  await outbox.moveMany(3)
  const { cursor } = await readAll(outbox, null, 10)
  await outbox.moveMany(1)
  await outbox.postgres.query('delete from store_change where seq = 4')
  t.equal((await readNext(outbox.postgres, cursor, 10)).page?.isAnew, true)
})

t.test('forgets changes before the mirror, and other epochs, a few at a time', async (t) => {
  const outbox = await open(t)
  await outbox.moveMany(7)
  const { cursor } = await readAll(outbox, null, 10)
  if (cursor === null) throw new Error('a mirror of seven changes stands somewhere')
  await outbox.moveMany(2)
  for (const epoch of [uuidOf(1), 'ffffffff-ffff-4fff-8fff-ffffffffffff']) {
    await outbox.postgres.query(
      `insert into store_change (epoch, seq, project_id, kind, payload)
       select $1::uuid, n, 1, 'override', '{}' from generate_series(1, 3) n`,
      [epoch],
    )
  }
  t.same([await prune(outbox.postgres, cursor, 4), await outbox.count()], [4, 11])
  t.same([await prune(outbox.postgres, cursor, 100), await outbox.count()], [8, 3])
  t.same([await prune(outbox.postgres, cursor, 100), await outbox.count()], [0, 3])
  const { rows } = await outbox.postgres.query('select seq from store_change order by seq')
  t.same(rows, [{ seq: 7 }, { seq: 8 }, { seq: 9 }], 'the one that the mirror stands at stays')
  t.same((await readAll(outbox, cursor, 10)).sizes, [2])

  t.equal(await prune(outbox.postgres, { ...cursor, epoch: uuidOf(5) }, 100), 0, 'not for an older epoch')
})
