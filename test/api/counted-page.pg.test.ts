import t from 'tap'
import { countedPage } from '../../src/api/counted-page.ts'
import { freshPostgres } from '../support/postgres.ts'

t.test('reads a page and counts all rows in one statement', async (t) => {
  const postgres = await freshPostgres(t)
  const statements: string[] = []
  const sql = {
    query: <Row extends object>(text: string, params?: readonly unknown[]) => {
      statements.push(text)
      return postgres.query<Row>(text, params)
    },
  }
  const list = {
    select: 'select number, number % 2 as rest from generate_series(1, $1::integer) number',
    params: [5],
    key: ['number'],
    order: 'rest desc, number desc',
    url: 'https://spate.example/api/things/',
  }
  t.strictSame(await countedPage(sql, { ...list, page: { limit: 2, offset: 1 } }), {
    count: 5,
    next: 'https://spate.example/api/things/?limit=2&offset=3',
    previous: 'https://spate.example/api/things/?limit=2',
    results: [
      { number: 3, rest: 1 },
      { number: 1, rest: 1 },
    ],
  })
  t.equal(statements.length, 1)
  const beyond = await countedPage(sql, { ...list, page: { limit: 2, offset: 5 } })
  t.match(beyond, { count: 5, next: null })
  t.strictSame(beyond.results, [])
  const empty = await countedPage(sql, { ...list, params: [0], page: { limit: 2, offset: 0 } })
  t.strictSame(empty, { count: 0, next: null, previous: null, results: [] })
})

t.test('makes what is shown for the rows of the page only, and hides what it sorts by', async (t) => {
  const postgres = await freshPostgres(t)
  // Postgres takes our word for it that it changes nothing.
  await postgres.query('create sequence made')
  await postgres.query(
    `create function dear() returns bigint language plpgsql stable as $$ begin return nextval('made'); end $$`,
  )
  const select = `select number as id, -number as list_rank, dear() as dear from generate_series(1, 1000) number`
  const url = 'https://spate.example/api/things/'
  const page = { limit: 2, offset: 998 }
  const list = { select, params: [], order: 'list_rank', url, page }
  const found = await countedPage<{ id: number; dear: number }>(postgres, list)
  t.equal(found.count, 1000)
  t.same(
    found.results.map((row) => Object.keys(row)),
    [
      ['id', 'dear'],
      ['id', 'dear'],
    ],
  )
  t.same(
    found.results.map(({ id }) => id),
    [2, 1],
  )
  const { rows } = await postgres.query<{ made: number }>('select last_value as made from made')
  t.same(rows, [{ made: 2 }], 'made for two rows')
})
