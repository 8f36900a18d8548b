import t from 'tap'
import { systemClock } from '../../src/lib/clock.ts'
import { openKeySearch, unknownKeysMax, waitingKeysMax } from '../../src/management/key-search.ts'

/** A search in a world that knows `existing`, whose clock and health are the test's. */
function world(existing: readonly string[]) {
  let nowMs = 0
  let failing = false
  const queries: (readonly string[])[] = []
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const find = async (keys: readonly string[]): Promise<string[]> => {
    queries.push(keys)
    if (failing) throw new Error('Postgres is down')
    return keys.filter((key) => existing.includes(key))
  }
  return {
    search: openKeySearch({ find, clock }),
    queries,
    advance: (ms: number) => {
      nowMs += ms
    },
    fail: (value: boolean) => {
      failing = value
    },
  }
}

t.test('remembers an unknown key for five seconds and a found one not at all', async (t) => {
  const { search, queries, advance } = world(['phc_a'])
  t.equal(await search.ask('phc_a'), 'found')
  t.equal(await search.ask('phc_b'), 'unknown')
  advance(4_999)
  t.equal(await search.ask('phc_b'), 'unknown')
  t.same(queries, [['phc_a'], ['phc_b']])
  advance(1)
  t.equal(await search.ask('phc_b'), 'unknown')
  t.equal(queries.length, 3)
})

t.test('asks for all keys that came while a query ran in one query', async (t) => {
  const { search, queries } = world(['phc_b'])
  const keys = ['phc_a', 'phc_b', 'phc_c', 'phc_b', 'phc_c']
  const answers = await Promise.all(keys.map((key) => search.ask(key)))
  t.same(answers, ['unknown', 'found', 'unknown', 'found', 'unknown'])
  t.same(queries, [['phc_a'], ['phc_b', 'phc_c']])
})

t.test('answers unavailable while the query fails, and remembers nothing of it', async (t) => {
  const { search, fail } = world(['phc_a'])
  fail(true)
  t.equal(await search.ask('phc_a'), 'unavailable')
  fail(false)
  t.equal(await search.ask('phc_a'), 'found')
})

t.test('does not wait for a database that has gone silent', async (t) => {
  const silent = { find: () => new Promise<string[]>(() => {}), clock: systemClock }
  t.equal(await openKeySearch(silent).ask('phc_a'), 'unavailable')
})

t.test('asks nothing about a key that Postgres could not hold', async (t) => {
  const { search, queries } = world([])
  t.equal(await search.ask('phc_\0'), 'unknown')
  t.same(queries, [])
})

t.test('bounds what it remembers and what it lets wait', async (t) => {
  const { search, queries } = world([])
  const first = search.ask('phc_first')
  const waiting = Array.from({ length: waitingKeysMax }, (_, index) => search.ask(`phc_${index}`))
  t.equal(await search.ask('phc_too_many'), 'unavailable')
  await Promise.all([first, ...waiting])
  t.equal(unknownKeysMax, 10_000)
  // One more unknown key than is remembered: the first is forgotten and asked for again, the last is not.
  t.equal(await search.ask(`phc_${waitingKeysMax - 1}`), 'unknown')
  t.equal(queries.length, 2)
  await search.ask('phc_first')
  t.same(queries[2], ['phc_first'])
})
