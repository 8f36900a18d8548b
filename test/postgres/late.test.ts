import t from 'tap'
import { latePostgres } from '../../src/postgres/late.ts'
import type { Postgres } from '../../src/postgres/pool.ts'

/** A Postgres that answers every query with one row and counts its listeners. */
function fakePostgres(): Postgres & { listening: number } {
  const fake = {
    listening: 0,
    query: async <Row extends object>() => ({ rows: [{ answer: 42 } as Row], rowCount: 1 }), // the one row there is
    transaction: async () => {
      throw new Error('not used')
    },
    hold: async () => {
      throw new Error('not used')
    },
    listen(_channel: string, onNotify: (payload: string | null) => void) {
      fake.listening++
      onNotify(null)
      return {
        async close() {
          fake.listening--
        },
      }
    },
    close: async () => {},
  }
  return fake
}

t.test('is unavailable, and says why, until the database is open', async (t) => {
  let open: (postgres: Postgres) => void = () => {}
  const postgres = latePostgres(new Promise((resolve) => (open = resolve)))
  await t.rejects(postgres.query('select 42 as answer'), {
    code: 'postgres_unavailable',
    detail: /still starting/,
  })
  open(fakePostgres())
  await new Promise(setImmediate)
  t.same((await postgres.query('select 42 as answer')).rows, [{ answer: 42 }])
})

t.test('listens as soon as the database is open, unless closed before', async (t) => {
  const fake = fakePostgres()
  let open: (postgres: Postgres) => void = () => {}
  const postgres = latePostgres(new Promise((resolve) => (open = resolve)))
  const heard: (string | null)[] = []
  const kept = postgres.listen('a', (payload) => heard.push(payload))
  const closed = postgres.listen('b', (payload) => heard.push(payload))
  await closed.close()
  open(fake)
  await new Promise(setImmediate)
  t.same(heard, [null])
  t.equal(fake.listening, 1)
  await kept.close()
  t.equal(fake.listening, 0)
})

t.test('stays unavailable when the database cannot be opened', async (t) => {
  const postgres = latePostgres(Promise.reject(new Error('no')))
  await new Promise(setImmediate)
  await t.rejects(postgres.query('select 1'), { code: 'postgres_unavailable' })
  await postgres.close()
})
