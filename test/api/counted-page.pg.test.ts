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
  await postgres.query('create sequence made')
  const select = `select number as id, -number as list_rank, nextval('made') as dear
    from generate_series(1, 1000) number`
  const url = 'https://spate.example/api/things/'
  const page = { limit: 2, offset: 998 }
  const found = await countedPage(postgres, { select, params: [], order: 'list_rank', url, page })
  t.strictSame(
    found.results.map((row) => Object.keys(row)),
    [
      ['id', 'dear'],
      ['id', 'dear'],
    ],
  )
  t.match(found, { count: 1000, results: [{ id: 2 }, { id: 1 }] })
})
