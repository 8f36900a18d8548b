import type { DuckDBConnection } from '@duckdb/node-api'
import t from 'tap'
import type { Store } from '../../src/events/store.ts'
import { plainRows } from './make-batch.ts'
import { FakeJournal, openWorld } from './world.ts'

/** A store whose writing connection answers some statements with an error, before or after doing them. */
function failing(store: Store, fails: (sql: string) => Error | null, when: 'before' | 'after'): Store {
  const writer = new Proxy(store.writer, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'run') return value.bind(target)
      return async (sql: string, ...rest: unknown[]) => {
        const error = fails(sql)
        if (error !== null && when === 'before') throw error
        const result = await value.call(target, sql, ...rest)
        if (error !== null) throw error
        return result
      }
    },
  }) as DuckDBConnection // the proxy passes everything else on
  return { ...store, writer }
}

/** Answers the first statement that starts with `start` with `message`. */
function once(start: string, message: string): (sql: string) => Error | null {
  let isDone = false
  return (sql) => {
    if (isDone || !sql.startsWith(start)) return null
    isDone = true
    return new Error(message)
  }
}

t.test('stores rows and offset together or neither', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: plainRows(0, 10) })
  const reopen = (store: Store) => failing(store, once('insert into progress', 'IO Error: disk'), 'before')
  const world = await openWorld(t.testdir(), journal, { reopen })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'retry', again: 'later', detail: 'IO Error: disk' })
  t.strictSame(await world.select('select (select count(*) from event), (select count(*) from progress)'), [
    ['0', '0'],
  ])
  await world.applyAll()
  t.strictSame(await world.select('select (select count(*) from event), (select count(*) from progress)'), [
    ['10', '2'],
  ])
})

t.test('believes the stored offset when a commit that happened reports an error', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: plainRows(0, 10) })
  const reopen = (store: Store) => failing(store, once('commit', 'IO Error: unknown outcome'), 'after')
  const world = await openWorld(t.testdir(), journal, { reopen })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'applied' })
  t.equal(await world.applyAll(), 0)
  t.strictSame(await world.select('select count(*) from event'), [['10']])
})

t.test('takes half as many rows after running out of memory, and never calls that poison', async (t) => {
  const journal = new FakeJournal()
  for (let i = 0; i < 4; i++) journal.append({ rows: plainRows(i * 1000, 1000) })
  const reopen = (store: Store) => failing(store, once('commit', 'Out of Memory Error: no'), 'before')
  const world = await openWorld(t.testdir(), journal, { reopen })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'retry', again: 'later' })
  t.match(await world.step(), { kind: 'applied', rows: 2000 })
  await world.applyAll()
  t.strictSame(world.consumer.counts, { events: 4000, duplicates: 0, quarantined: 0 })
})

t.test('ends when the instance is invalidated', async (t) => {
  const journal = new FakeJournal()
  journal.append({ rows: plainRows(0, 1) })
  const fatal = 'FATAL Error: Failed: database has been invalidated because of a previous fatal error.'
  const world = await openWorld(t.testdir(), journal, {
    reopen: (store) => failing(store, once('commit', fatal), 'before'),
  })
  t.teardown(world.close)

  t.match(await world.step(), { kind: 'fatal', detail: fatal })
})
