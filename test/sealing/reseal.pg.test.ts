import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Postgres, Session } from '../../src/postgres/pool.ts'
import { resealAll } from '../../src/sealing/reseal.ts'
import { makeSealer } from '../../src/sealing/sealer.ts'
import { freshPostgres, silentLog } from '../support/postgres.ts'
import { keysOf } from './keys.ts'

const column = { table: 'vault', column: 'secret' }

/** A table with `count` rows sealed with the key a, and one without a credential. */
async function fill(t: Test, count: number): Promise<{ postgres: Postgres; ids: string[] }> {
  const postgres = await freshPostgres(t)
  await postgres.query('create table vault (id uuid primary key, secret text)')
  const ids = Array.from({ length: count }, () => randomUUID()).sort()
  const sealer = makeSealer(keysOf('a'), silentLog)
  await postgres.query('insert into vault select * from unnest($1::uuid[], $2::text[])', [
    [...ids, randomUUID()],
    [...ids.map((id) => sealer.seal({ ...column, id }, `secret of ${id}`)), null],
  ])
  return { postgres, ids }
}

async function opened(postgres: Postgres, key: string): Promise<Set<string>> {
  const { rows } = await postgres.query<{ id: string; secret: string }>(
    'select id, secret from vault where secret is not null',
  )
  const sealer = makeSealer(keysOf(key as 'b'), silentLog)
  return new Set(rows.map(({ id, secret }) => sealer.open({ ...column, id }, secret)))
}

t.test('seals everything with the first key, after which the others are not needed', async (t) => {
  const { postgres, ids } = await fill(t, 205)
  const sealer = makeSealer(keysOf('b', 'a'), silentLog)
  t.same(await resealAll(postgres, sealer, [column]), { count: 205, unreadable: [] })
  t.same(await opened(postgres, 'b'), new Set(ids.map((id) => `secret of ${id}`)))
  t.same(await resealAll(postgres, sealer, [column]), { count: 0, unreadable: [] })
})

t.test('goes on where an interrupted run stopped', async (t) => {
  const { postgres, ids } = await fill(t, 10)
  const sealer = makeSealer(keysOf('b', 'a'), silentLog)
  let updates = 0
  const breaking: Session = {
    query(sql, params) {
      if (/^update/.test(sql) && ++updates > 4) throw new Error('killed')
      return postgres.query(sql, params)
    },
  }
  await t.rejects(resealAll(breaking, sealer, [column]), /killed/)
  t.same(await resealAll(postgres, sealer, [column]), { count: 6, unreadable: [] })
  t.same(await opened(postgres, 'b'), new Set(ids.map((id) => `secret of ${id}`)))
})

t.test('names what does not open and seals the rest', async (t) => {
  const { postgres, ids } = await fill(t, 3)
  await postgres.query('update vault set secret = $2 where id = $1', [ids[1], 'sealed1.cccccccc.AAAA'])
  const resealed = await resealAll(postgres, makeSealer(keysOf('b', 'a'), silentLog), [column])
  t.same(resealed, { count: 2, unreadable: [`vault.secret ${ids[1]}`] })
})

t.test('a credential that is saved meanwhile wins', async (t) => {
  const { postgres, ids } = await fill(t, 1)
  const saving: Session = {
    async query(sql, params) {
      if (/^update/.test(sql))
        await postgres.query(`update vault set secret = 'saved' where id = $1`, [ids[0]])
      return postgres.query(sql, params)
    },
  }
  t.same(await resealAll(saving, makeSealer(keysOf('b', 'a'), silentLog), [column]), {
    count: 0,
    unreadable: [],
  })
  const { rows } = await postgres.query('select secret from vault where id = $1', [ids[0]])
  t.same(rows, [{ secret: 'saved' }])
})
