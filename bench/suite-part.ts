// The parts of the suite: each runs a workload or a scenario and takes the targets' figures from it.

import { join } from 'node:path'
import { decide } from './decide.ts'
import { curveNames, growth, measureCurve } from './growth.ts'
import { queryableRate, spreadOf } from './ingest-figures.ts'
import { type IngestPlan, planOf, runIngest, runInTurn, type SideReport } from './ingest-run.ts'
import { runLimit } from './limit.ts'
import { mixed } from './mixed.ts'
import { comparePeers, type PeerFigure, peers } from './peer-comparison.ts'
import { parseCores } from './pinned.ts'
import type { Context, Options, Outcome, Scenario } from './scenario.ts'
import { measureStages } from './stage-figures.ts'
import { stageInput } from './stage-input.ts'
import { latencyBound, rateBound } from './suite-bound.ts'
import { nothingFound, type PartFindings, type SuiteFigure } from './suite-result.ts'
import type { WorkloadName } from './workload.ts'

export interface PartContext extends Context {
  readonly isQuick: boolean
  /** Stages as an earlier part measured them. */
  readonly stages: Readonly<Record<string, number>>
}

/** Workloads that are loaded by the thousand or in large bodies need fewer samples, and no even stretch. */
const ingestParts: Readonly<
  Record<string, Partial<Pick<IngestPlan, 'samples' | 'evenSeconds' | 'evenTriesMax'>>>
> = {
  w1: {},
  'w1-256': { evenSeconds: 0 },
  w2: { evenSeconds: 0 },
  // Freshness is of every event, whatever the disk was like.
  w3: { evenTriesMax: 5 },
  w4: { samples: 2, evenSeconds: 0 },
  'w4-plain': { samples: 3, evenSeconds: 0 },
  w5: { evenSeconds: 0 },
  'w5-single': { evenSeconds: 0 },
  w8: { evenSeconds: 0 },
  w9: { evenSeconds: 0 },
} satisfies Partial<Record<WorkloadName, unknown>>

/** How much of a workload's sample the peers get in one: single events take some of them a millisecond each. */
const peerShares: Readonly<Record<string, number>> = { w3: 0.15, w2: 0.25, w1: 0.12 }
const growthPrefix = 'growth-'

/** What "all" stands for. */
export const suiteParts: readonly string[] = [
  'stages',
  ...Object.keys(ingestParts),
  'decide',
  'mixed',
  'peers',
]
/** What "growth" stands for: a curve each, since they take 25 minutes together. */
export const growthParts: readonly string[] = curveNames.map((name) => `${growthPrefix}${name}`)

export async function measurePart(name: string, context: PartContext): Promise<PartFindings> {
  if (name === 'stages') return await takeStages(context)
  if (name === 'decide') return await takeDecide(context)
  if (name === 'mixed') return await takeMixed(context)
  if (name === 'peers') return await takePeers(context)
  if (name.startsWith(growthPrefix)) return await takeCurve(name.slice(growthPrefix.length), context)
  return await takeIngest(name, context)
}

async function takeStages({ isQuick, folder }: PartContext): Promise<PartFindings> {
  const input = stageInput(1, isQuick ? 10 : 40)
  const all = await measureStages(input, isQuick ? 3 : 5, folder)
  const stages = Object.fromEntries(all.map(({ name, micros }) => [name, micros.median]))
  const ratio = stages['the same by lz-string']! / stages['lz64, batches of 20']!
  return { ...nothingFound, stages, figures: [exactly('lz64', ratio, 'the processor, a symbol at a time')] }
}

async function takeIngest(name: string, context: PartContext): Promise<PartFindings> {
  const { isQuick, folder, options, say } = context
  const plan: IngestPlan = { ...planOf(name, isQuick), cores: parseCores(options.cores ?? '') }
  const own = { ...plan, ...ingestParts[name], ...(isQuick ? { samples: name === 'w4' ? 1 : 2 } : {}) }
  if (name === 'w8' || name === 'w9') return await takeBesideW3(name, own, context)
  if (name !== 'w3') {
    const [report] = await runIngest(own, folder, say)
    return findingsOf(report!, ingestFigures(name, report!, context)) // there is one checkout
  }
  const { server, ratio, broken } = await runLimit(own, folder, say)
  const bound = rateBound(name, server, context.stages, 'queryable')
  const figures = [...ingestFigures(name, server, context), { id: 'limit', ...ratio, bound }]
  return { ...findingsOf(server, figures), broken }
}

/** In turn with W3, in samples of as many requests. */
async function takeBesideW3(name: string, plan: IngestPlan, context: PartContext): Promise<PartFindings> {
  const [own, w3] = await runInTurn([plan, { ...plan, workload: 'w3' }], context.folder, context.say)
  const [rates, ratesOfW3] = [own!, w3!].map(({ samples }) => samples.map(queryableRate)) // two servers took turns
  const ratios = rates!.map((rate, index) => rate / ratesOfW3![index]!)
  const bound = rateBound(name, own!, context.stages, 'queryable')
  const { broken, ...findings } = findingsOf(own!, [{ id: name, ...spreadOf(ratios), bound }])
  return { ...findings, broken: [...broken, ...w3!.broken] }
}

function findingsOf({ figures: all, broken }: SideReport, figures: readonly SuiteFigure[]): PartFindings {
  return {
    ...nothingFound,
    figures,
    cost: all.cpuSecondsPerMillion,
    stolenShare: all.stolenShare,
    broken,
  }
}

function ingestFigures(name: string, report: SideReport, context: PartContext): SuiteFigure[] {
  const { figures } = report
  const { stages } = context
  const acked = rateBound(name, report, stages, 'acked')
  const queryable = rateBound(name, report, stages, 'queryable')
  if (name === 'w4' || name === 'w4-plain') {
    const memory = name === 'w4' ? 'bodies as sent' : 'bodies as sent, which are their text'
    const bound = `${memory}, records on their way to disk, DuckDB's transaction and its columns`
    return [
      { id: name, ...figures.queryablePerSecond, bound: queryable },
      exactly(`${name}-rss`, figures.peakRssBytes / 1e6, bound),
    ]
  }
  const rate: SuiteFigure = { id: name, ...figures.ackedPerSecond, bound: acked }
  if (name === 'w1' && figures.evenLatencyMs !== null)
    return [rate, { id: 'w1-p99', ...figures.evenLatencyMs.p99, bound: latencyBound(report) }]
  if (name !== 'w3') return [rate]
  const { freshnessP95Ms } = figures
  return [
    rate,
    { id: 'w3-queryable', ...figures.queryablePerSecond, bound: queryable },
    exactly('disk', figures.diskBytesPerEvent, 'properties, which zstd packs by row group'),
    exactly('journal', figures.journalBytesPerEvent, 'the text of properties, as sent'),
    ...(freshnessP95Ms === null
      ? []
      : [exactly('freshness', freshnessP95Ms, 'how often a transaction is committed')]),
  ]
}

async function takeDecide(context: PartContext): Promise<PartFindings> {
  const few = context.isQuick ? { requests: '2000', samples: '3' } : {}
  const { rows, broken } = await rowsOf(decide, context, few)
  const rates = [10, 100, 1000].map((count) => {
    const micros = rows.get(`${count} flags server + Postgres`) ?? ''
    const bound = `the core: ${micros.replace(' each', ' in server + Postgres')}`
    return exactly(`decide-${count}`, Number(rows.get(`${count} flags answers/s`)), bound)
  })
  const even = rows.get('100 flags at half load') ?? ''
  const paused = rows.get('100 flags generator paused') ?? ''
  const bound = `threads that share the core, and collections: ${even}; who asks paused ${paused}`
  return { ...nothingFound, figures: [...rates, exactly('decide-p99', p99Of(even), bound)], broken }
}

async function takeMixed(context: PartContext): Promise<PartFindings> {
  const few = context.isQuick ? { requests: '2000', seconds: '5' } : {}
  const { rows, broken } = await rowsOf(mixed, context, few)
  const even = rows.get('decide') ?? ''
  const bound = `threads that share the core, which is busy ${rows.get('core busy') ?? '?'}: ${even}`
  return { ...nothingFound, figures: [exactly('mixed-p99', p99Of(even), bound)], broken }
}

async function takePeers({ isQuick, folder, options, say }: PartContext): Promise<PartFindings> {
  const { server: core } = parseCores(options.cores ?? '')
  const names = Object.keys(peers)
  const found: PeerFigure[] = []
  for (const [workload, full] of Object.entries(peerShares)) {
    const share = isQuick ? full / 4 : full
    found.push(
      ...(await comparePeers({ workload, names, samples: isQuick ? 1 : 3, share, core }, folder, say)),
    )
  }
  // What a peer does not do is no promise of ours.
  const broken = found.flatMap(({ workload, peer, fault }) =>
    peer === 'Spate' && fault !== null ? [`${workload}: ${fault}`] : [],
  )
  return { ...nothingFound, peers: found, broken }
}

async function takeCurve(name: string, context: PartContext): Promise<PartFindings> {
  const options = { ...fallbacks(growth), cores: context.options.cores ?? '' }
  const { points, broken } = await measureCurve(name, { ...context, options }, context.isQuick)
  return { ...nothingFound, points, broken }
}

/** Runs a scenario, and returns its rows by name. */
async function rowsOf(
  scenario: Scenario,
  { folder, options, say }: PartContext,
  own: Options,
): Promise<{ readonly rows: ReadonlyMap<string, string>; readonly broken: Outcome['broken'] }> {
  const all = { ...fallbacks(scenario), cores: options.cores ?? '', ...own }
  const outcome = await scenario.run({ options: all, folder: join(folder, 'run'), say })
  if ('skipped' in outcome) throw new Error(outcome.skipped)
  return {
    rows: new Map(outcome.rows.map(({ name, value }) => [name, value])),
    broken: outcome.broken,
  }
}

function fallbacks({ options }: Scenario): Options {
  return Object.fromEntries(Object.entries(options).map(([name, { fallback }]) => [name, fallback]))
}

/** Of "p50 1.2, p99 3.4, max 5.6 ms …". */
function p99Of(text: string): number {
  return Number(/p99 ([\d.]+)/.exec(text)?.[1] ?? Number.NaN)
}

function exactly(id: string, value: number, bound: string): SuiteFigure {
  return { id, ...spreadOf([value]), bound }
}
