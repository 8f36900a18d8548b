// Runs every workload of the comparison, one after the other, and takes the targets' figures from them.

import { join } from 'node:path'
import { decide } from './decide.ts'
import { type Spread, spreadOf } from './ingest-figures.ts'
import { type IngestPlan, planOf, runIngest, type SideReport } from './ingest-run.ts'
import type { Duration } from './ingest-side.ts'
import { runLimit } from './limit.ts'
import { mixed } from './mixed.ts'
import type { Scenario } from './scenario.ts'
import { eventStages, measureStages } from './stage-figures.ts'
import { stageInput } from './stage-input.ts'
import type { SuiteFigure } from './suite-result.ts'
import type { WorkloadName } from './workload.ts'

export interface SuitePlan {
  readonly isQuick: boolean
  readonly cores: IngestPlan['cores']
  readonly folder: string
  /** Parts to run: names of workloads, "stages", "decide", "mixed". */
  readonly parts: readonly string[]
  say(line: string): void
}

export interface SuiteMeasured {
  readonly figures: SuiteFigure[]
  readonly costs: Record<string, Spread>
  readonly stages: Record<string, number>
  readonly stolenShares: number[]
  readonly broken: string[]
}

/** Workloads that are loaded by the thousand or in large bodies need fewer samples, and no even stretch. */
const ingestParts: Readonly<Record<string, Partial<Pick<IngestPlan, 'samples' | 'evenSeconds'>>>> = {
  w1: {},
  'w1-256': { evenSeconds: 0 },
  w2: { evenSeconds: 0 },
  w3: {},
  w4: { samples: 2, evenSeconds: 0 },
  'w4-plain': { samples: 3, evenSeconds: 0 },
  w5: { evenSeconds: 0 },
  'w5-single': { evenSeconds: 0 },
  w8: { evenSeconds: 0 },
  w9: { evenSeconds: 0 },
} satisfies Partial<Record<WorkloadName, unknown>>

export const suiteParts: readonly string[] = ['stages', ...Object.keys(ingestParts), 'decide', 'mixed']

export async function runSuite(plan: SuitePlan): Promise<SuiteMeasured> {
  const measured: SuiteMeasured = { figures: [], costs: {}, stages: {}, stolenShares: [], broken: [] }
  const queryable = new Map<string, Spread>()
  for (const part of plan.parts) {
    plan.say(`${part} …`)
    try {
      if (part === 'stages') await takeStages(plan, measured)
      else if (part === 'decide') await takeDecide(plan, measured)
      else if (part === 'mixed') await takeMixed(plan, measured)
      else await takeIngest(plan, part, measured, queryable)
    } catch (error) {
      // The other parts still have something to say.
      measured.broken.push(`${part} could not be finished: ${error instanceof Error ? error.message : error}`)
    }
  }
  return measured
}

async function takeStages({ isQuick, folder }: SuitePlan, measured: SuiteMeasured): Promise<void> {
  const input = stageInput(1, isQuick ? 10 : 40)
  const figures = await measureStages(input, isQuick ? 3 : 5, join(folder, 'stages'))
  for (const { name, micros } of figures) measured.stages[name] = micros.median
  const ours = measured.stages['lz64, batches of 20']!
  const theirs = measured.stages['the same by lz-string']!
  measured.figures.push(exactly('lz64', theirs / ours, 'the processor, a symbol at a time'))
}

async function takeIngest(
  { isQuick, cores, folder, say }: SuitePlan,
  name: string,
  measured: SuiteMeasured,
  queryable: Map<string, Spread>,
): Promise<void> {
  const plan: IngestPlan = { ...planOf(name, isQuick), cores }
  const own = { ...plan, ...ingestParts[name], ...(isQuick ? { samples: name === 'w4' ? 1 : 2 } : {}) }
  const place = join(folder, name)
  if (name !== 'w3') {
    const [report] = await runIngest(own, place, say)
    if (report !== undefined) takeReport(name, report, measured, queryable)
    return
  }
  const { server, ratio, broken } = await runLimit(own, place, say)
  takeReport(name, server, measured, queryable)
  measured.broken.push(...broken.filter((line) => !server.broken.includes(line)))
  measured.figures.push({ id: 'limit', ...ratio, bound: boundOf(server, measured.stages, 'queryable') })
}

function takeReport(
  name: string,
  report: SideReport,
  measured: SuiteMeasured,
  queryable: Map<string, Spread>,
): void {
  const { figures } = report
  const push = (figure: SuiteFigure): void => void measured.figures.push(figure)
  const bound = boundOf(report, measured.stages, 'acked')
  const queryableBound = boundOf(report, measured.stages, 'queryable')
  measured.broken.push(...report.broken.map((line) => `${name}: ${line}`))
  measured.stolenShares.push(figures.stolenShare)
  measured.costs[name] = figures.cpuSecondsPerMillion
  queryable.set(name, figures.queryablePerSecond)
  const ofW3 = queryable.get('w3')?.median
  if (name === 'w8' || name === 'w9') {
    if (ofW3 !== undefined)
      push({ id: name, ...over(figures.queryablePerSecond, ofW3), bound: queryableBound })
    return
  }
  const isWhole = name === 'w4' || name === 'w4-plain'
  const rate = isWhole ? figures.queryablePerSecond : figures.ackedPerSecond
  push({ id: name, ...rate, bound: isWhole ? queryableBound : bound })
  if (isWhole)
    push(exactly(`${name}-rss`, figures.peakRssBytes / 1e6, 'bodies, their text and DuckDB at once'))
  if (name === 'w1' && figures.evenLatencyMs !== null)
    push(exactly('w1-p99', figures.evenLatencyMs.p99, 'fsync, and threads that share the core'))
  if (name !== 'w3') return
  push({ id: 'w3-queryable', ...figures.queryablePerSecond, bound: queryableBound })
  push(exactly('disk', figures.diskBytesPerEvent, 'properties under zstd'))
  push(exactly('journal', figures.journalBytesPerEvent, 'the text of properties, as sent'))
  if (figures.freshnessP95Ms !== null)
    push(exactly('freshness', figures.freshnessP95Ms, 'how often a transaction is committed'))
}

/** What a rate is bounded by: the generator, waiting, or the core, and then by which stages. */
function boundOf(
  { figures, samples }: SideReport,
  stages: Readonly<Record<string, number>>,
  end: 'acked' | 'queryable',
): string {
  if (figures.generatorShare > 0.9) return 'the generator'
  const busy = spreadOf(samples.map((sample) => busyShare(sample[end]))).median
  if (busy < 0.85) return `waiting: the core is busy ${(busy * 100).toFixed(0)} %`
  const largest = eventStages
    .map((name) => ({ name, micros: stages[name] ?? 0 }))
    .sort((a, b) => b.micros - a.micros)
    .slice(0, 3)
    .filter(({ micros }) => micros > 0)
    .map(({ name, micros }) => `${name} ${micros.toFixed(0)}`)
  const all = `${figures.cpuSecondsPerMillion.median.toFixed(0)} µs an event`
  return `the core: ${all}${largest.length === 0 ? '' : `; stages alone: ${largest.join(', ')}`}`
}

function busyShare({ cpuSeconds, seconds, stolenSeconds }: Duration): number {
  return cpuSeconds / Math.max(seconds - stolenSeconds, seconds / 100)
}

async function takeDecide(plan: SuitePlan, measured: SuiteMeasured): Promise<void> {
  const rows = await rowsOf(decide, plan, plan.isQuick ? { requests: '2000', samples: '3' } : {}, measured)
  for (const count of [10, 100, 1000]) {
    const micros = rows.get(`${count} flags server + Postgres`) ?? ''
    const bound = `the core: ${micros.replace(' each', ' in server + Postgres')}`
    measured.figures.push(exactly(`decide-${count}`, Number(rows.get(`${count} flags answers/s`)), bound))
  }
  const p99 = p99Of(rows.get('100 flags at half load'))
  measured.figures.push(exactly('decide-p99', p99, 'threads that share the core, and collections'))
}

async function takeMixed(plan: SuitePlan, measured: SuiteMeasured): Promise<void> {
  const rows = await rowsOf(mixed, plan, plan.isQuick ? { requests: '2000', seconds: '5' } : {}, measured)
  measured.figures.push(exactly('mixed-p99', p99Of(rows.get('decide')), 'threads that share the core'))
}

/** Runs a scenario, and returns its rows by name. */
async function rowsOf(
  scenario: Scenario,
  { folder, say }: SuitePlan,
  options: Readonly<Record<string, string>>,
  measured: SuiteMeasured,
): Promise<Map<string, string>> {
  const defaults = Object.entries(scenario.options).map(([name, { fallback }]) => [name, fallback])
  const all = { ...Object.fromEntries(defaults), ...options }
  const outcome = await scenario.run({ options: all, folder: join(folder, `scenario-${Date.now()}`), say })
  if ('skipped' in outcome) throw new Error(outcome.skipped)
  measured.broken.push(...outcome.broken)
  return new Map(outcome.rows.map(({ name, value }) => [name, value]))
}

/** Of "p50 1.2, p99 3.4, max 5.6 ms …". */
function p99Of(text = ''): number {
  return Number(/p99 ([\d.]+)/.exec(text)?.[1] ?? Number.NaN)
}

function exactly(id: string, value: number, bound: string): SuiteFigure {
  return { id, ...spreadOf([value]), bound }
}

function over({ median, min, max }: Spread, by: number): Spread {
  return { median: median / by, min: min / by, max: max / by }
}
