import t from 'tap'
import { envelope, linkTo, pageOf } from '../../src/api/pagination.ts'

const url = 'https://spate.example/api/things/?b=2&limit=10&a=1'

const pages: [query: string, limit: number, offset: number][] = [
  ['', 100, 0],
  ['limit=7&offset=3', 7, 3],
  ['limit=0', 100, 0],
  ['limit=-1&offset=-5', 100, 0],
  ['limit=x&offset=y', 100, 0],
  ['limit=1000', 1000, 0],
  ['limit=1001', 1000, 0],
  ['offset=99999999999999999999', 100, 1_000_000_000],
]
for (const [query, limit, offset] of pages) {
  t.test(`page of "${query}"`, async (t) => {
    t.strictSame(pageOf(query), { limit, offset })
  })
}

t.test('links to the next page with all parameters sorted', async (t) => {
  t.strictSame(envelope(url, { limit: 10, offset: 0 }, 25, ['x']), {
    count: 25,
    next: 'https://spate.example/api/things/?a=1&b=2&limit=10&offset=10',
    previous: null,
    results: ['x'],
  })
})

t.test('leaves the offset out of the link to the first page', async (t) => {
  const { next, previous } = envelope(url, { limit: 10, offset: 10 }, 25, [])
  t.equal(next, 'https://spate.example/api/things/?a=1&b=2&limit=10&offset=20')
  t.equal(previous, 'https://spate.example/api/things/?a=1&b=2&limit=10')
})

t.test('has no next page when the last result is on this one', async (t) => {
  const { next, previous } = envelope(url, { limit: 10, offset: 15 }, 25, [])
  t.equal(next, null)
  t.equal(previous, 'https://spate.example/api/things/?a=1&b=2&limit=10&offset=5')
})

t.test('keeps what stands behind a second question mark', async (t) => {
  t.equal(linkTo('/x/?event=what?&limit=5', { cursor: 'c' }), '/x/?cursor=c&event=what%3F&limit=5')
})

t.test('changes one parameter of an address', async (t) => {
  t.equal(linkTo('/x/', { cursor: 'a b' }), '/x/?cursor=a+b')
  t.equal(linkTo('/x/?limit=1', { limit: null }), '/x/')
})
