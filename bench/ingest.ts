// What does an event cost, and how many a second does one core take?
//
// The server, with all its threads and its Postgres, has one core; the generator another. A sample is a number of
// requests, sent as fast as answers come; its figures are taken when the last is answered, when all can be queried,
// and when persons have caught up. With --against, two builds take turns sample by sample.

import { formatBytes } from '../src/lib/bytes.ts'
import { describeDisk, type IngestFigures, type Spread } from './ingest-figures.ts'
import { type IngestPlan, planOf, runIngest, type SideReport } from './ingest-run.ts'
import { parseCores } from './pinned.ts'
import { integerOption, type Options, type Outcome, type ResultRow, type Scenario } from './scenario.ts'
import { workloadNamed, workloads } from './workload.ts'

export const ingest: Scenario = {
  question: 'what does an event cost, and how many a second does one core take?',
  options: {
    workload: { fallback: 'w3', meaning: `one or more, with commas: ${Object.keys(workloads).join(', ')}` },
    samples: { fallback: '5', meaning: 'of each' },
    requests: { fallback: '0', meaning: 'of a sample; 0: what the workload says' },
    connections: { fallback: '0', meaning: 'at once; 0: what the workload says' },
    'even-seconds': { fallback: '6', meaning: 'at half the rate, for latency and freshness; 0: not at all' },
    'warm-ups': {
      fallback: '0',
      meaning: 'rounds before the samples; 0: for a million events, twenty at most',
    },
    'even-stretches': { fallback: '1', meaning: 'of so many seconds each, in turn' },
    'even-tries': { fallback: '3', meaning: 'so many times as many at most, where the disk is not quiet' },
    against: { fallback: '', meaning: 'folder of another checkout, built, to take turns with' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async ({ options, folder, say }) => {
    const rows: ResultRow[] = []
    const broken: string[] = []
    for (const name of (options.workload ?? '').split(',')) {
      say(`${name}: ${workloadNamed(name).title}`)
      const reports = await runIngest(readPlan(options, name), `${folder}/${name}`, say)
      rows.push(...describeReports(name, reports))
      broken.push(
        ...reports.flatMap((report) => report.broken.map((line) => `${name} ${report.name}: ${line}`)),
      )
    }
    return { rows, broken, slow: [] } satisfies Outcome
  },
}

function readPlan(options: Options, workload: string): IngestPlan {
  const plan = planOf(workload, false)
  return {
    ...plan,
    samples: integerOption(options, 'samples'),
    requests: integerOption(options, 'requests') || plan.requests,
    connections: integerOption(options, 'connections') || plan.connections,
    evenSeconds: integerOption(options, 'even-seconds'),
    evenStretches: integerOption(options, 'even-stretches'),
    evenTriesMax: integerOption(options, 'even-tries') * integerOption(options, 'even-stretches'),
    warmUps: integerOption(options, 'warm-ups') || plan.warmUps,
    cores: parseCores(options.cores ?? ''),
    seed: integerOption(options, 'seed'),
    checkouts: options.against === '' ? [null] : [null, options.against ?? ''],
  }
}

/** A row a figure; with two sides both, and what A is of B. */
function describeReports(workload: string, reports: readonly SideReport[]): ResultRow[] {
  const [a, b] = reports
  const rows = [
    ...reports.flatMap((report) => describeFigures(sideName(workload, report, reports), report)),
    ...(a === undefined || b === undefined ? [] : compare(workload, a, b)),
  ]
  return [...rows, { name: '', value: '' }]
}

function sideName(workload: string, { name }: SideReport, reports: readonly SideReport[]): string {
  return reports.length === 1 ? workload : `${workload} ${name}`
}

function describeFigures(name: string, { figures, verdict }: SideReport): ResultRow[] {
  const latency = figures.evenLatencyMs
  const row = (what: string, value: string): ResultRow => ({ name: `${name} ${what}`, value })
  return [
    row('CPU-s/million events', describeSpread(figures.cpuSecondsPerMillion)),
    row('requests/s', describeSpread(figures.requestsPerSecond)),
    row('events/s acked', describeSpread(figures.ackedPerSecond)),
    row('events/s queryable', describeSpread(figures.queryablePerSecond)),
    row('events/CPU-s queryable', describeSpread(figures.queryablePerCpuSecond)),
    ...(latency === null
      ? []
      : [
          row(
            'latency at half load',
            `p50 ${latency.p50.median.toFixed(1)}, p99 ${describeSpread(latency.p99)}, ` +
              `max ${latency.max.max.toFixed(0)} ms`,
          ),
          row('the disk', figures.evenDisk === null ? '' : describeDisk(figures.evenDisk)),
          row('freshness p95', `${figures.freshnessP95Ms?.toFixed(0) ?? '?'} ms`),
        ]),
    row('peak RSS', formatBytes(figures.peakRssBytes)),
    row('journal, disk', describeBytes(figures)),
    row('verified', `${verdict.acknowledgedEvents} events once, contents of ${verdict.comparedEvents}`),
    row('conditions', describeConditions(figures)),
  ]
}

function describeBytes({ journalBytesPerEvent, diskBytesPerEvent }: IngestFigures): string {
  return `${journalBytesPerEvent.toFixed(0)}, ${diskBytesPerEvent.toFixed(0)} bytes/event`
}

function describeConditions({ stolenShare, generatorShare, overloaded }: IngestFigures): string {
  const [stolen, generator] = [stolenShare, generatorShare].map((share) => `${(share * 100).toFixed(0)} %`)
  const again = overloaded === 0 ? '' : `, ${overloaded} answers 503`
  return `${stolen} of the core taken by others, generator ${generator} busy${again}`
}

/** Sample by sample, since neighbours ran under the same conditions. */
function compare(workload: string, a: SideReport, b: SideReport): ResultRow[] {
  const cost = ({ events, settled }: SideReport['samples'][number]): number => settled.cpuSeconds / events
  const ratios = a.samples.map((sample, index) => cost(sample) / cost(b.samples[index]!))
  const sorted = ratios.sort((x, y) => x - y)
  const median = sorted[sorted.length >> 1]!
  const range = `${sorted[0]!.toFixed(3)} to ${sorted.at(-1)!.toFixed(3)}`
  return [
    {
      name: `${workload} A/B processor time`,
      value: `${median.toFixed(3)} (${range}); below 1 A is cheaper`,
    },
    {
      name: `${workload} A/B events/s queryable`,
      value: (a.figures.queryablePerSecond.median / b.figures.queryablePerSecond.median).toFixed(3),
    },
  ]
}

function describeSpread({ median, min, max }: Spread): string {
  const [middle, low, high] = [median, min, max].map(printFigure)
  return `${middle} (${low} to ${high})`
}

function printFigure(value: number): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')
}
