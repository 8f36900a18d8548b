import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { CaptureReport } from '../../src/capture/capture-append.ts'
import type { CaptureTask, DecodedRequest } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import type { JoinedRequest } from '../../src/capture/turn-capture.ts'
import { ServiceError } from '../../src/errors.ts'
import type { GeoipFiles } from '../../src/geoip/database.ts'
import { openJournal } from '../../src/journal/client.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import { seededRandom } from '../journal/simulated-disk.ts'
import { geoipFiles } from './geoip-files.ts'
import { randomTask } from './random-bodies.ts'
import { type Captured, comparableRow, decodedOf, now, rowsOf, task } from './tasks.ts'
import { type AppendedRecord, slowWorld, turnEnd, turnWorld } from './turn-world.ts'

const event = (name: string, fields = {}) => ({ event: name, distinct_id: 'u', ...fields })
const single = (name: string, fields = {}) => ({ api_key: 'phc_test', ...event(name, fields) })
const names = ({ rows }: AppendedRecord): string[] => rows.map((row) => row.event)
/** Resolves when a joined request's events are on disk; throws for a request that did not join. */
function appended(outcome: DecodedRequest | JoinedRequest): Promise<void> {
  if (outcome.kind !== 'joined') throw new Error(`expected joined, got ${outcome.kind}`)
  return outcome.appended
}

t.test('requests of one turn are one record, in their order, and one report', async (t) => {
  const { send, records, reports } = turnWorld()
  const outcomes = [
    send(single('a', { uuid: '018f3c29-0000-7000-8000-000000000001' })),
    send(
      { api_key: 'phc_test', batch: [event('b'), { event: 'dropped' }, event('c')] },
      { query: 'beacon=1' },
    ),
    send([single('d'), single('a', { uuid: '018f3c29-0000-7000-8000-000000000001' })]),
  ]
  t.same(records, [])
  t.match(outcomes, [{ beacon: false }, { beacon: true }, { beacon: false }])
  await Promise.all(outcomes.map(appended))
  t.same(records.map(names), [['a', 'b', 'c', 'd', 'a']])
  t.equal(reports.length, 1)
  t.match(reports[0], {
    projectId: 1,
    eventCount: 5,
    duplicateCount: 1,
    historical: false,
    drops: [{ reason: 'distinct_id_missing', count: 1 }],
  })
  await appended(send(single('e')))
  t.same(records.map(names), [['a', 'b', 'c', 'd', 'a'], ['e']], 'the next turn is another record')
})

t.test('nobody is answered before the record is on disk', async (t) => {
  const settled: string[] = []
  const { send, reports, release } = slowWorld()
  const all = ['a', 'b'].map((name) => appended(send(single(name))).then(() => settled.push(name)))
  t.match(send({ api_key: 'phc_test', batch: [{ event: 'no id' }] }), { kind: 'captured', events: null })
  await turnEnd()
  await turnEnd()
  t.same([settled, reports.length], [[], 0])
  release()
  await Promise.all(all)
  t.same([settled, reports.length], [['a', 'b'], 1])
})

t.test('those who come while a record is on its way to disk are the next one', async (t) => {
  const { send, records, release } = slowWorld()
  const all = [appended(send(single('a')))]
  await turnEnd()
  for (const name of ['b', 'c']) {
    all.push(appended(send(single(name))))
    await turnEnd()
  }
  t.same(records.map(names), [['a']])
  release()
  await all[0]
  all.push(appended(send(single('d'))))
  await turnEnd()
  t.same(records.map(names), [['a'], ['b', 'c', 'd']], 'and those of the turn in which it got there')
  release()
  await Promise.all(all)
})

t.test('a record waits for those before it in its own lane, until it holds enough', async (t) => {
  const { send, records, releaseUntil } = slowWorld()
  const past = (name: string, count = 1) => ({
    api_key: 'phc_test',
    historical_migration: true,
    batch: Array(count).fill(event(name)),
  })
  const all = [send(past('a')), send(single('b'))].map(appended)
  await turnEnd()
  t.same(records.map(names), [['a'], ['b']])
  all.push(...[send(past('c')), send(past('d', 499))].map(appended))
  t.same(records.length, 3)
  all.push(...[send(past('e')), send(single('f'))].map(appended))
  await turnEnd()
  t.same(records.slice(3).map(names), [['e']], 'a request of the other lane ends it')
  await releaseUntil(all)
  t.same(records.slice(4).map(names), [['f']])
})

t.test('who comes long after the first of a record that waits is in another', async (t) => {
  const { send, records, releaseUntil, clock } = slowWorld()
  const all = [appended(send(single('a')))]
  await turnEnd()
  for (const ms of [0, 100, 101, 0]) {
    clock.ms = now + ms
    all.push(appended(send(single(`${ms}`))))
    await turnEnd()
  }
  t.same(records.map(names), [['a'], ['0', '100'], ['101']])
  await releaseUntil(all)
  t.same(records.slice(3).map(names), [['0']])
})

t.test('a request that stores nothing leaves its time to nobody', async (t) => {
  for (const body of [
    single('lost', { uuid: 'no uuid' }),
    { api_key: 'phc_test', batch: [{ event: 'no id' }] },
  ]) {
    const { send, records, releaseUntil, clock } = slowWorld()
    const all = [appended(send(single('a')))]
    await turnEnd()
    send(body)
    await turnEnd()
    clock.ms = now + 50
    all.push(appended(send(single('b'))))
    await releaseUntil(all)
    t.same(
      records.map((record) => [record.receivedAtMs - now, ...names(record)]),
      [
        [0, 'a'],
        [50, 'b'],
      ],
    )
  }
})

t.test('a bad request costs only itself', async (t) => {
  const { send, records, reports } = turnWorld()
  const bad: [code: string, body: unknown, changes?: Partial<CaptureTask>][] = [
    [
      'payload_unparseable',
      '{"api_key":"phc_test","batch":[{"event":"lost","distinct_id":"u"},{"event":"lost",]}',
    ],
    ['payload_unparseable', single('lost', { uuid: 'no uuid' })],
    ['payload_unparseable', single('lost', { properties: 5 })],
    ['payload_unhydratable', { api_key: 'phc_test', distinct_id: 'lost' }],
    ['cookieless_mode_invalid', single('lost', { properties: { $cookieless_mode: 'x' } })],
    ['api_key_invalid', { ...single('lost'), api_key: 'phx_personal' }],
    ['api_key_missing', event('lost')],
    ['unknown_key', { ...single('lost'), api_key: 'phc_nobody' }],
    ['payload_missing', ''],
    ['payload_undecodable', single('lost'), { body: new Uint8Array([0x7b, 0xff, 0x7d]) }],
    ['body_too_large', '', { body: new Uint8Array(gzipSync(' '.repeat(100_000))) }],
  ]
  const small = { ...task('').limits, decompressedBytesMax: 64 * 1024 }
  const good = [appended(send(single('0')))]
  for (const [index, [code, body, changes]] of bad.entries()) {
    const outcome = send(body, { limits: small, ...changes })
    t.equal(outcome.kind === 'refused' ? outcome.code : outcome.kind, code, `${index}`)
    t.match(send({ ...single('over'), api_key: 'phc_over' }), { kind: 'captured', events: null })
    good.push(appended(send(single(`${index + 1}`))))
  }
  await Promise.all(good)
  t.same(records.map(names), [Array.from({ length: bad.length + 1 }, (_, index) => `${index}`)])
  t.match(reports, [{ eventCount: bad.length + 1, drops: [] }])
})

t.test('a turn of nothing but refusals appends nothing', async (t) => {
  const { send, records, reports } = turnWorld()
  send(single('lost', { uuid: 'no uuid' }))
  await turnEnd()
  t.same([records, reports], [[], []])
  await appended(send(single('a')))
  t.same(records.map(names), [['a']])
})

t.test('projects and lanes do not share a record', async (t) => {
  const { send, records, reports } = turnWorld()
  const past = { historical_migration: true }
  const all = [
    send(single('a')),
    send({ ...single('b'), api_key: 'phc_private' }),
    send({ api_key: 'phc_private', ...past, batch: [event('c')] }),
    send({ api_key: 'phc_private', ...past, batch: [event('d')] }),
    send(single('e')),
    send(single('f')),
  ]
  await Promise.all(all.map(appended))
  t.same(
    records.map((record) => [record.lane, record.projectId, ...names(record)]),
    [
      ['realtime', 1, 'a'],
      ['realtime', 2, 'b'],
      ['historical', 2, 'c', 'd'],
      ['realtime', 1, 'e', 'f'],
    ],
  )
  t.equal(reports.length, 4)
})

t.test('a record that holds enough takes no more, in bytes and in events', async (t) => {
  const sized = (bytes: number): string => {
    const body = JSON.stringify(single('a'))
    return body + ' '.repeat(bytes - body.length)
  }
  const { send, records } = turnWorld()
  const kib = (count: number): number => count * 1024
  const sendAll = (bodies: unknown[], changes: Partial<CaptureTask> = {}) =>
    Promise.all(bodies.map((body) => appended(send(body, changes))))
  await sendAll([kib(128), kib(128) - 1, 100, kib(256), 100].map(sized))
  t.same(
    records.map(({ rows }) => rows.length),
    [3, 1, 1],
  )
  records.length = 0
  const many = (count: number) => ({ api_key: 'phc_test', batch: Array(count).fill(event('a')) })
  await sendAll([250, 249, 1, 500, 499, 700, 1].map(many))
  t.same(
    records.map(({ rows }) => rows.length),
    [500, 500, 1199, 1],
  )
  records.length = 0
  const limits = { ...task('').limits, recordBytesMax: 200 }
  await sendAll([100, 100, 199, 100, 100].map(sized), { limits })
  t.same(
    records.map(({ rows }) => rows.length),
    [2, 2, 1],
  )
})

t.test('company takes from nobody that his identity events are named', async (t) => {
  const { send, reports } = turnWorld()
  const many = (prefix: string, count: number) => ({
    api_key: 'phc_test',
    batch: Array.from({ length: count }, (_, index) =>
      event('$identify', { distinct_id: `${prefix}${index}` }),
    ),
  })
  await Promise.all([many('a', 499), many('b', 1000)].map((body) => appended(send(body))))
  t.same(
    reports.map(({ identityBornIds }) => identityBornIds.length / 16),
    [1499],
  )
})

t.test(
  'all requests of a record hear why it cannot be appended, and the next turn is not concerned',
  async (t) => {
    const memory = new MemoryJournal()
    let isFull = true
    const append: Journal['append'] = (...call) => {
      if (isFull) return Promise.reject(new ServiceError('journal_full', { detail: 'no room' }))
      return memory.append(...call)
    }
    const { send, records, reports } = turnWorld({ append })
    const all = ['a', 'b', 'c'].map((name) => appended(send(single(name))))
    for (const one of all) await t.rejects(one, { code: 'journal_full', detail: 'no room' })
    t.same(reports, [])
    isFull = false
    await appended(send(single('d')))
    t.same(names(records.at(-1)!), ['d'])
  },
)

t.test('a journal that closes in the middle of a turn leaves nobody without an answer', async (t) => {
  const journal = await openJournal({ dir: t.testdir(), quarantineDir: t.testdir(), freeBytesMin: 0 })
  const { send } = turnWorld(journal)
  const sent = ['a', 'b'].map((name) => appended(send(single(name))))
  await turnEnd()
  const late = ['c', 'd'].map((name) => appended(send(single(name))))
  const answers = Promise.allSettled([...sent, ...late])
  await journal.close()
  const stopping = { status: 'rejected', reason: { code: 'stopping' } }
  t.match(await answers, [{ status: 'fulfilled' }, { status: 'fulfilled' }, stopping, stopping])
})

t.test('a record has the time of its first request, its events that of their own', async (t) => {
  const { turn, send, records, clock } = turnWorld()
  const waiting = task(single('waited for its key'), { receivedAtMs: turn.receivedAtMs() })
  await turnEnd()
  clock.ms = now + 10
  const all = [appended(send(single('a')))]
  clock.ms = now + 20
  all.push(...[send(single('b')), turn.decode(waiting), send(single('c'))].map(appended))
  await Promise.all(all)
  await appended(send(single('d')))
  const timesOf = ({ rows }: AppendedRecord) => rows.map((row) => [row.event, row.micros / 1000 - now])
  t.same(
    records.map((record) => [record.receivedAtMs - now, ...timesOf(record)]),
    [
      [10, ['a', 10], ['b', 10], ['waited for its key', 0], ['c', 10]],
      [20, ['d', 20]],
    ],
  )
})

t.test('a request that waited for its key may be the only one of its turn', async (t) => {
  const { turn, records } = turnWorld()
  await appended(turn.decode(task(single('a'))))
  t.same(records.map(names), [['a']])
})

function comparable({ projectId, rows }: Pick<AppendedRecord, 'projectId' | 'rows'>) {
  return rows.map((row) => ({ projectId, ...comparableRow(row) }))
}

/** Reasons, counts and samples, in an order that does not tell how many requests they are of. */
function remarksOf({ drops, warnings }: Pick<CaptureReport, 'drops' | 'warnings'>): string[] {
  return [...drops, ...warnings].map((remark) => JSON.stringify(remark))
}

/** What a request stores that was decoded alone. */
function storedAlone(outcome: Captured) {
  return comparable({ projectId: outcome.projectId, rows: rowsOf(outcome) })
}

/** A request that may be of another project or lane, or end too early. */
function randomRequest(random: () => number, seed: number, geoip: GeoipFiles): CaptureTask {
  const request = randomTask(seed, geoip)
  let text = Buffer.from(request.body).toString()
  if (random() < 0.2) text = text.replace(/^\{/, '{"historical_migration":true,')
  if (random() < 0.1) text = text.replace('"phc_test"', random() < 0.5 ? '"phc_over"' : '"phc_nobody"')
  if (random() < 0.1) text = text.slice(0, random() * text.length)
  const limits = random() < 0.7 ? task('').limits : request.limits
  const query = random() < 0.2 ? 'beacon=1' : ''
  return { ...request, body: new Uint8Array(Buffer.from(text)), query, limits }
}

t.test('a random mix of requests stores and answers what each of them would alone', async (t) => {
  const geoip = geoipFiles(t)
  const counts = { joined: 0, appends: 0 }
  for (let seed = 0; seed < 5; seed++) {
    const random = seededRandom(seed)
    const world = turnWorld()
    const alone: Captured[] = []
    const joined: Promise<void>[] = []
    for (let index = 0; index < 12; index++) {
      const request = randomRequest(random, seed * 12 + index, geoip)
      const found = world.turn.decode({ ...request, body: request.body.slice() })
      const expected = decodeCapture({ ...request, body: request.body.slice() })
      if (found.kind === 'joined') {
        joined.push(found.appended)
        t.match(expected, { kind: 'captured', beacon: found.beacon }, `seed ${seed}`)
        alone.push(expected as Captured) // the line before says so
      } else t.same(found, decodedOf(expected), `seed ${seed}`)
    }
    await Promise.all(joined)
    counts.joined += joined.length
    counts.appends += world.reports.length
    for (const lane of ['realtime', 'historical'] as const) {
      const expected = alone.filter(({ historical }) => historical === (lane === 'historical'))
      const records = world.records.filter((record) => record.lane === lane)
      const reports = world.reports.filter(({ historical }) => historical === (lane === 'historical'))
      const isSame = isDeepStrictEqual(records.flatMap(comparable), expected.flatMap(storedAlone))
      t.ok(isSame, `rows of seed ${seed}, ${lane}`)
      t.same(
        reports.flatMap(remarksOf).sort(),
        expected.flatMap(remarksOf).sort(),
        `remarks of seed ${seed}, ${lane}`,
      )
    }
  }
  t.ok(counts.joined > 25 && counts.appends < 0.8 * counts.joined, JSON.stringify(counts))
})
