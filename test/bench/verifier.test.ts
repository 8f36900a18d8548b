import t from 'tap'
import { type Shape, shapes, uuidOf } from '../../bench/capture-request.ts'
import type { Attempt, SentRequest } from '../../bench/oracle-journal.ts'
import { brokenPromises, type EventsVerdict, type Verdict } from '../../bench/verdict.ts'
import { type StoredRow, Verifier } from '../../bench/verifier.ts'

/** A request whose event i hashes to eight bytes of value i + 1. */
function sent(number: number, shape: Shape, attempts: Attempt[]): SentRequest {
  const hashes = new Uint8Array(shapes[shape].eventCount * 8).map((_, at) => (at >> 3) + 1)
  return { client: 0, number, shape, hashes, attempts }
}

const attempt = (sentMs: number, status: number | null): Attempt => ({ sentMs, status, endMs: sentMs + 5 })

function row(number: number, index: number, position = number * 100): StoredRow {
  const hash = new Uint8Array(8).fill(index + 1)
  return { uuid: uuidOf({ client: 0, number, index }), hash, lane: 0, position, index }
}

function rows(number: number, shape: Shape): StoredRow[] {
  return Array.from({ length: shapes[shape].eventCount }, (_, index) => row(number, index))
}

function judge(
  requests: SentRequest[],
  stored: StoredRow[],
  cuts: { fromMs: number; toMs: number }[] = [],
): Verdict {
  const verifier = new Verifier(new Map([[0, requests]]), cuts)
  for (const one of stored) verifier.row(one)
  return { ...verifier.verdict(), persons: null }
}

/** The counts of broken promises that are not 0. */
function faults(verdict: EventsVerdict): Partial<EventsVerdict> {
  const { lost, doubled, altered, uninvited, torn, misordered } = verdict
  const counts = Object.entries({ lost, doubled, altered, uninvited, torn, misordered })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

const batch = [sent(0, 'batch', [attempt(0, 200)])]

t.test('a store that holds what was acknowledged keeps every promise', async (t) => {
  const requests = [
    sent(0, 'batch', [attempt(0, 200)]),
    sent(1, 'single', [attempt(10, null), attempt(20, 200)]),
    sent(2, 'unknownKey', [attempt(30, 401)]),
    sent(3, 'batch', [attempt(40, null)]),
    sent(4, 'batch', [attempt(50, 503)]),
  ]
  const verdict = judge(requests, [...rows(0, 'batch'), ...rows(1, 'single'), ...rows(3, 'batch')])
  t.same(brokenPromises(verdict), [])
  t.equal(verdict.acknowledgedEvents, 21)
  t.equal(verdict.unansweredRequests, 2)
  t.equal(verdict.unansweredStored, 1)
})

t.test('finds an acknowledged event that is missing', async (t) => {
  const verdict = judge(batch, rows(0, 'batch').slice(0, 19))
  t.same(faults(verdict), { lost: 1 })
  t.same(brokenPromises(verdict), [
    '1 acknowledged events were lost',
    'request 0/0 (batch, realtime) was acknowledged: 19 of 20 stored',
  ])
})

t.test('finds an acknowledged request of which nothing is stored', async (t) => {
  t.same(faults(judge(batch, [])), { lost: 20 })
})

t.test('finds an event that is stored twice', async (t) => {
  const again = { ...row(0, 7), position: 900 }
  t.same(faults(judge(batch, [...rows(0, 'batch'), again])), { doubled: 1 })
})

t.test('finds an event stored with other contents', async (t) => {
  const stored = rows(0, 'batch')
  stored[3] = { ...stored[3]!, hash: new Uint8Array(8) }
  t.same(faults(judge(batch, stored)), { altered: 1 })
})

t.test('finds events of a refused request, and rows that nobody sent', async (t) => {
  t.same(faults(judge([sent(0, 'truncated', [attempt(0, 400)])], rows(0, 'truncated'))), { uninvited: 5 })
  const stranger = { ...row(1, 0), uuid: '018f3c2a-0752-77f4-8a1b-07527f40c209' }
  t.same(faults(judge(batch, [...rows(0, 'batch'), stranger])), { uninvited: 1 })
})

t.test('finds a request without an answer that is stored in part', async (t) => {
  t.same(faults(judge([sent(0, 'batch', [attempt(0, null)])], rows(0, 'batch').slice(0, 5))), { torn: 1 })
})

t.test('finds rows out of the order of the journal', async (t) => {
  const stored = rows(0, 'batch')
  const [first, second] = [stored[0]!, stored[1]!]
  t.ok(judge(batch, [second, first, ...stored.slice(2)]).misordered > 0)
})

t.test('finds events of a request in another order than they were sent in', async (t) => {
  const stored = rows(0, 'batch')
  const swapped = [{ ...stored[1]!, index: 0 }, { ...stored[0]!, index: 1 }, ...stored.slice(2)]
  t.same(faults(judge(batch, swapped)), { misordered: 1 })
})

t.test('finds a request that stands before one acknowledged before it was sent', async (t) => {
  const requests = [sent(0, 'single', [attempt(0, 200)]), sent(1, 'single', [attempt(10, 200)])]
  t.same(faults(judge(requests, [row(1, 0, 100), row(0, 0, 200)])), { misordered: 1 })
  const concurrent = [sent(0, 'single', [attempt(0, 200)]), sent(1, 'single', [attempt(4, 200)])]
  t.same(faults(judge(concurrent, [row(1, 0, 100), row(0, 0, 200)])), {})
})

t.test('an answer that came while the power was cut proves nothing', async (t) => {
  t.same(faults(judge(batch, [], [{ fromMs: 5, toMs: 9 }])), {})
  t.same(faults(judge(batch, [], [{ fromMs: 6, toMs: 9 }])), { lost: 20 })
})

t.test('an event in quarantine counts as stored, once', async (t) => {
  for (const [index, expected] of [
    [0, {}],
    [1, { lost: 1, doubled: 1 }],
  ] as const) {
    const verifier = new Verifier(new Map([[0, batch]]))
    for (const one of rows(0, 'batch').slice(1)) verifier.row(one)
    verifier.quarantined(uuidOf({ client: 0, number: 0, index }))
    const verdict = verifier.verdict()
    t.same(faults(verdict), expected)
    t.equal(verdict.quarantinedEvents, 1)
  }
})
