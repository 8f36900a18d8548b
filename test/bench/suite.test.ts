import { readdirSync } from 'node:fs'
import t from 'tap'
import { readBaseline, readTable } from '../../bench/baseline-file.ts'
import { suiteHtml } from '../../bench/suite-html.ts'
import type { PartContext } from '../../bench/suite-part.ts'
import {
  type MeasuredPart,
  nothingFound,
  type PartFindings,
  type SuiteResult,
  suiteRows,
  withPart,
} from '../../bench/suite-result.ts'
import { readParts, runSuite } from '../../bench/suite-run.ts'
import { suiteTable } from '../../bench/suite-table.ts'
import { standingOf, targets } from '../../bench/target.ts'

const run = { machine: '2 × Processor <fast>', takenAt: '2026-01-03 10:20', isQuick: false }
const [ofDayTwo, ofDayOne] = ['2026-01-02 08:00', '2026-01-01 07:00'].map((takenAt) => ({ ...run, takenAt }))
const moment = (computeMs: number, memoryMs: number, longestMs: number) => ({
  work: { computeMs, memoryMs },
  away: { count: 3, longestMs },
})
const nothing: SuiteResult = { fastest: null, parts: [] }

const w3: MeasuredPart = {
  ...nothingFound,
  name: 'w3',
  run,
  figures: [
    { id: 'w3', median: 80_000, min: 79_000, max: 81_000, bound: 'the core' },
    { id: 'limit', median: 0.2, min: 0.1, max: 0.3, bound: 'the core' },
  ],
  cost: { median: 20, min: 19, max: 21 },
  stolenShare: 0.02,
  speed: { before: moment(20, 20, 2), after: moment(40, 40, 3) },
}
const w1: MeasuredPart = {
  ...nothingFound,
  name: 'w1',
  run,
  figures: [{ id: 'w1-p99', median: 4, min: 4, max: 4, bound: 'fsync' }],
  speed: { before: moment(40, 40, 5), after: moment(40, 40, 26.4) },
}
const spread = (median: number) => ({ median, min: median - 0.1, max: median + 0.1 })
const peers: MeasuredPart = {
  ...nothingFound,
  name: 'peers',
  run,
  speed: null,
  peers: [
    ['Spate', 1],
    ['Fast & loose', 0.6],
    ['Slow', 2],
  ].map(([peer, times]) => ({
    workload: 'w3',
    peer: String(peer),
    ack: `ack of ${peer}`,
    taken: { cpuMicros: spread(40), ackedPerSecond: spread(1000), ofFirst: spread(Number(times)) },
    fault: null,
    isMissing: false,
  })),
}
const curve: MeasuredPart = {
  ...nothingFound,
  name: 'growth-stored',
  run,
  speed: null,
  points: [
    { at: 100_000, cpuMicros: 40, perSecond: 9000 },
    { at: 10_000_000, cpuMicros: 57.6, perSecond: 8000 },
  ],
}
const result = [w3, w1, peers, curve].reduce((all, part) => withPart(all, part, null), nothing)

t.test('a figure reaches its goal, ships, or is below, in the direction that is better', async (t) => {
  const [rate] = targets.filter(({ id }) => id === 'w3')
  t.same(
    [100_000, 99_999, 60_000, 59_999].map((value) => standingOf(rate!, value)),
    ['goal', 'ship', 'ship', 'below'],
  )
  const [latency] = targets.filter(({ id }) => id === 'w1-p99')
  t.same(
    [8, 9, 15, 16].map((value) => standingOf(latency!, value)),
    ['goal', 'ship', 'ship', 'below'],
  )
})

t.test('a ratio to the one before is above 1 when things got better', async (t) => {
  const halved = [w3, w1].map((part) => ({
    ...part,
    figures: part.figures.map((figure) => ({ ...figure, median: figure.median / 2 })),
  }))
  const rows = suiteRows(halved.reduce((all, part) => withPart(all, part, result), nothing))
  t.same(
    rows.map(({ target, ratio, before }) => [target.id, ratio, before?.median]),
    [
      ['w1-p99', 2, 4],
      ['w3', 0.5, 80_000],
      ['limit', 0.5, 0.2],
    ],
  )
})

t.test('a part stands beside the one kept on an earlier day, else beside the last one kept', async (t) => {
  const kept = (...runs: readonly (typeof run)[]): SuiteResult =>
    runs.reduce((all, one) => withPart(all, { ...w3, run: one }, all), nothing)
  const takenBefore = (baseline: SuiteResult): string | undefined =>
    withPart(nothing, w3, baseline).parts[0]!.before?.run.takenAt
  const earlier = { ...run, takenAt: '2026-01-03 02:00' }
  t.equal(takenBefore(nothing), undefined)
  t.equal(takenBefore(kept(ofDayOne!, ofDayTwo!)), ofDayTwo!.takenAt)
  t.equal(takenBefore(kept(ofDayTwo!, earlier)), ofDayTwo!.takenAt)
  t.equal(takenBefore(kept(earlier)), earlier.takenAt)
})

t.test('what a run did not measure stays as it was kept, with its own date', async (t) => {
  const kept = withPart(withPart(nothing, { ...w3, run: ofDayOne! }, null), { ...w1, run: ofDayOne! }, null)
  const table = suiteTable(withPart(kept, w3, kept))
  const others = 'others had 2 % of the core at most'
  t.match(table, `- Measured 2026-01-03 10:20 on 2 × Processor <fast>; ${others}: w3\n`)
  t.match(table, '- Measured 2026-01-01 07:00 on 2 × Processor <fast>: w1\n')
  t.match(table, `- Before 2026-01-01 07:00 on 2 × Processor <fast>; ${others}: w3\n`)
})

t.test('the table says what was measured, what we aim at, how fast it was and what bounds it', async (t) => {
  const cells = (line = ''): string[] => line.split('|').map((cell) => cell.trim())
  const [runs, figures, peerRows, losses, curves] = suiteTable(result).split('\n\n')
  t.match(runs, /^- Measured .* others had 2 % of the core at most: w3, w1, peers, growth-stored$/)
  const [latency, acked, limit] = figures!.split('\n').slice(2).map(cells)
  t.same(latency!.slice(1, 9), ['W1 p99 at half load', 'ms', '4.00', '', '', '15', '8.00', 'goal'])
  const bound = 'fsync; the core itself was away up to 26 ms, 6 times over 1 ms in 2 s'
  t.same(latency!.slice(9), ['0.50', bound, ''])
  t.same(acked!.slice(2, 4), ['events/s', '80,000 (79,000 to 81,000)'])
  t.same(acked!.slice(6), ['60,000', '100,000', 'ship', '0.75', 'the core', ''])
  t.same(limit!.slice(3, 4), ['0.20 (0.10 to 0.30)'])
  const [, title, ...others] = cells(peerRows!.split('\n')[3])
  t.equal(title, 'batches of 1000 as busy servers send them, gzip')
  t.same(others.slice(0, 3), ['Fast & loose', '40 (40 to 40)', '0.60 (0.50 to 0.70)'])
  t.same(others.slice(3), ['1,000 (1,000 to 1,000)', 'ack of Fast & loose', ''])
  const loss = 'Fast & loose takes 0.60 of our processor time; its acknowledgement: ack of Fast & loose.'
  t.equal(losses, `**We lose:** ${title}: ${loss}`)
  t.equal(
    curves!.split('\n')[2],
    '| growth-stored | 40 µs at 100,000 | 58 µs at 10,000,000 | 1.44× | 1.20× |',
  )
})

t.test('a peer that failed is left out with its reason, and nobody loses to it', async (t) => {
  const refused = { ...peers.peers[1]!, taken: null, fault: 'it did not take 3 of 9 requests' }
  const table = suiteTable(withPart(nothing, { ...peers, peers: [peers.peers[0]!, refused] }, null))
  t.match(table, '| Fast & loose | left out: it did not take 3 of 9 requests |  |  |')
  t.match(table, 'None of them takes less processor time than we do.')
})

t.test('the report is one page that loads nothing', async (t) => {
  const page = suiteHtml(withPart(result, curve, result), ['1 event & more was lost'])
  t.notMatch(page, /(src|href)=|https?:|@import|url\(/)
  t.match(page, '2 × Processor &lt;fast&gt;')
  t.match(page, 'BROKEN: 1 event &amp; more was lost')
  t.match(page, '80,000')
  t.match(page, 'We lose: batches of 1000 as busy servers send them, gzip: Fast &amp; loose takes 0.60')
  t.match(page, /<polyline points="20\.0,76\.6 360\.0,24\.0" fill="none" stroke="#3a6ea5"/)
  t.match(page, '>10M</text>')
  t.notMatch(page, /NaN|Infinity|undefined/)
})

t.test('a result without parts is a page, too', async (t) => {
  t.notMatch(suiteHtml(nothing, []), /NaN|Infinity|undefined/)
})

t.test('parts are run in their order, once, and curves only when they are asked for', async (t) => {
  t.same(readParts('w3,stages,w3'), ['stages', 'w3'])
  t.notMatch(readParts('all').join(), 'growth')
  t.match(readParts('growth,all'), [...readParts('all'), 'growth-stored'])
  t.throws(() => readParts('w3,w7'), /there is no part w7/)
})

t.test('a part that breaks leaves the others, which know what came before them', async (t) => {
  const folder = t.testdir({})
  const seen: string[] = []
  const handedOver: MeasuredPart[] = []
  const plan = { options: { cores: 'none' }, folder, say: () => {}, run, parts: ['stages', 'w1', 'w3', 'w8'] }
  const measure = async (name: string, { stages }: PartContext): Promise<PartFindings> => {
    seen.push(`${name} ${stages.load ?? '-'} after ${handedOver.length}`)
    if (name === 'w1') throw new Error('the server ended')
    return { ...nothingFound, stages: name === 'stages' ? { load: 5 } : {} }
  }
  let moments = 0
  const examine = async () => (moments++ === 4 ? null : moment(moments, moments, 0))
  await runSuite(plan, (part) => handedOver.push(part), { measure, examine })
  t.same(seen, ['stages - after 0', 'w1 5 after 1', 'w3 5 after 2', 'w8 5 after 3'])
  const broken = handedOver.map((part) => part.broken)
  t.same(broken, [[], ['it could not be finished: the server ended'], [], []])
  const works = handedOver.map(
    ({ speed }) => speed && [speed.before.work.computeMs, speed.after.work.computeMs],
  )
  t.same(works, [[1, 2], [2, 3], [3, 4], null])
  t.same(readdirSync(folder), ['w1'], 'what broke can be looked into')
})

t.test('the table of README is the one of the baseline', async (t) => {
  const baseline = readBaseline('main')
  t.equal(readTable(), baseline === null ? 'No baseline is kept yet.' : suiteTable(baseline))
})
