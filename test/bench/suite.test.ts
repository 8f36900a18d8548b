import t from 'tap'
import { readBaseline, readTable } from '../../bench/baseline-file.ts'
import { suiteHtml } from '../../bench/suite-html.ts'
import { type SuiteResult, suiteRows, suiteTable } from '../../bench/suite-result.ts'
import { standingOf, targets } from '../../bench/target.ts'

const result: SuiteResult = {
  machine: '2 × Processor <fast>',
  date: '2026-01-02',
  isQuick: false,
  figures: [
    { id: 'w3', median: 80_000, min: 79_000, max: 81_000, bound: 'the core' },
    { id: 'w1-p99', median: 4, min: 4, max: 4, bound: 'fsync' },
    { id: 'limit', median: 0.2, min: 0.1, max: 0.3, bound: 'the core' },
  ],
  costs: { w3: { median: 20, min: 19, max: 21 } },
  stages: { load: 5 },
  stolenShare: 0.02,
  broken: [],
}

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

t.test('a ratio to the baseline is above 1 when things got better', async (t) => {
  const figures = result.figures.map((figure) => ({ ...figure, median: figure.median / 2 }))
  const rows = suiteRows({ ...result, figures }, result)
  t.same(
    rows.map(({ target, ratio }) => [target.id, ratio]),
    [
      ['w1-p99', 2],
      ['w3', 0.5],
      ['limit', 0.5],
    ],
  )
})

t.test('the table says what was measured, what we aim at and what bounds it', async (t) => {
  t.equal(
    suiteTable(result).split('\n').slice(4).join('\n'),
    [
      '| W1 p99 at half load | ms | 4.00 (4.00 to 4.00) | 15 | 8.00 | goal | fsync |',
      '| W3 gzip batches of 1000, acked | events/s | 80,000 (79,000 to 81,000) | 60,000 | 100,000 | ship | the core |',
      '| W3 against DuckDB loading NDJSON, per CPU-s | ratio | 0.20 (0.10 to 0.30) | 0.45 | 0.65 | below | the core |',
    ].join('\n'),
  )
})

t.test('the report is one page that loads nothing', async (t) => {
  const page = suiteHtml({ ...result, broken: ['1 event & more was lost'] }, result)
  t.notMatch(page, /(src|href)=|https?:|@import|url\(/)
  t.match(page, '2 × Processor &lt;fast&gt;')
  t.match(page, 'BROKEN: 1 event &amp; more was lost')
  t.match(page, '80,000')
})

t.test('the table of README is the one of the baseline', async (t) => {
  const baseline = readBaseline('main')
  t.equal(readTable(), baseline === null ? 'No baseline is kept yet.' : suiteTable(baseline))
})
