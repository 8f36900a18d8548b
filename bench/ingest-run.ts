// A run of one workload: one server, or two that take turns sample by sample.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCorpus } from './corpus.ts'
import { timeDiskAlone } from './disk-alone.ts'
import { type EvenStretch, figuresOf, type IngestFigures, quietOf } from './ingest-figures.ts'
import { IngestSide, type SideOptions, type Stretch } from './ingest-side.ts'
import type { LatencyMs } from './latency.ts'
import { LoadProcess } from './load-process.ts'
import { brokenLoad, type LoadVerdict } from './load-verdict.ts'
import { type Cores, onCore, parseCores } from './pinned.ts'
import { quantile } from './scenario.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

/**
 * Before the samples, as far as these are many enough. The server's code is compiled, and compiled again, while it
 * runs: of 18 samples of W3 one behind the other, 100,000 events each, the first nine took 12.7 µs an event in the
 * middle, the others 11.6, after 300,000 events to warm up.
 */
const warmUpEvents = 1_000_000
const warmUpsMax = 20
/** Long enough to see a disk that stands still now and then. */
const diskSeconds = 2

export interface IngestPlan {
  readonly workload: string
  readonly samples: number
  /** Of a sample. */
  readonly requests: number
  readonly connections: number
  /** Rounds before the samples. */
  readonly warmUps: number
  /** How long requests are sent at half the rate, each time; 0: not at all. */
  readonly evenSeconds: number
  /** Of those whose disk was quiet around them; others are taken again. */
  readonly evenStretches: number
  /** How many are taken at most. */
  readonly evenTriesMax: number
  /** As many before that do not count: requests that come evenly run other code than those that come all at once. */
  readonly evenWarmUps: number
  /** False: the generator packs while it sends, for more requests than memory holds. */
  readonly isPackedAhead: boolean
  readonly cores: Cores
  readonly seed: number
  /** Checkouts to compare, null: this one. */
  readonly checkouts: readonly (string | null)[]
}

export interface SideReport {
  /** "A" is the first checkout. */
  readonly name: string
  readonly checkout: string | null
  readonly figures: IngestFigures
  readonly samples: readonly Stretch[]
  readonly verdict: LoadVerdict
  readonly broken: readonly string[]
}

/** A server that a plan loads, and what it was found to take. */
export interface Side {
  readonly name: string
  readonly checkout: string | null
  readonly ingest: IngestSide
  readonly samples: Stretch[]
  readonly evenStretches: EvenStretch[]
}

/** The plan that fits a workload. */
export function planOf(workload: string, isQuick: boolean): IngestPlan {
  const { requestCount, quickRequestCount, connections, eventCount } = workloadNamed(workload)
  return {
    workload,
    samples: isQuick ? 3 : 5,
    requests: isQuick ? quickRequestCount : requestCount,
    connections,
    warmUps: isQuick ? 1 : Math.min(warmUpsMax, Math.ceil(warmUpEvents / (requestCount * eventCount))),
    evenSeconds: isQuick ? 2 : 6,
    // A single one says little about p99: of neighbours one may find ten times of what another does. Of five the median
    // was 8 ms and 33 on one day, of 57 in the hour of the latter 20.
    evenStretches: isQuick ? 1 : 11,
    evenTriesMax: isQuick ? 1 : 33,
    evenWarmUps: isQuick ? 0 : 2,
    isPackedAhead: true,
    cores: parseCores('0,1'),
    seed: 1,
    checkouts: [null],
  }
}

/** Runs a plan; `between` is done after each measured round, while no server has anything to do. */
export async function runIngest(
  plan: IngestPlan,
  folder: string,
  say: (line: string) => void,
  between: () => Promise<void> = async () => {},
): Promise<SideReport[]> {
  return await runInTurn([plan], folder, say, between)
}

/** One server of several that take turns. */
interface Turn {
  readonly plan: IngestPlan
  readonly side: Side
  readonly generator: LoadProcess
}

/** The same of plans with workloads of their own, all on the cores of the first and with as many samples. */
export async function runInTurn(
  plans: readonly IngestPlan[],
  folder: string,
  say: (line: string) => void,
  between: () => Promise<void> = async () => {},
): Promise<SideReport[]> {
  const { cores, samples } = plans[0]! // somebody takes turns
  const generators = new Map<string, LoadProcess>()
  const turns: Turn[] = []
  try {
    for (const plan of plans) {
      const { workload, seed, isPackedAhead, requests, warmUps } = plan
      if (generators.has(workload)) continue
      const generator = new LoadProcess({ workload, seed, projectApiKey }, cores.generator)
      generators.set(workload, generator)
      await generator.prepare(isPackedAhead ? requests * (samples + warmUps) : 0)
    }
    say('the requests are packed')
    const entries = plans.flatMap((plan) => plan.checkouts.map((checkout) => ({ plan, checkout })))
    for (const [index, { plan, checkout }] of entries.entries()) {
      const side = openSide(plan, join(folder, `side-${index}`), checkout, 'AB'[index] ?? String(index))
      turns.push({ plan, side, generator: generators.get(plan.workload)! }) // one for each workload
    }
    for (const { side } of turns) await side.ingest.accepting()
    // This process asks servers how far they are: on their core it took a tenth of it while single events came evenly.
    await onCore(cores.generator, async () => {
      for (let round = -Math.max(...plans.map(({ warmUps }) => warmUps)); round < samples; round++) {
        for (const { plan, side, generator } of turns)
          if (round >= -plan.warmUps) await takeSample(plan, side, generator, round >= 0, say)
        if (round >= 0) await between()
      }
      await takeEvenStretches(
        turns.filter(({ plan }) => plan.evenSeconds > 0),
        folder,
        say,
      )
    })
    const reports: SideReport[] = []
    for (const { side } of turns) reports.push(await endSide(side))
    return reports
  } finally {
    for (const { side } of turns) await side.ingest.close()
    for (const generator of generators.values()) await generator.close()
  }
}

/** Launches a server; close `ingest` in any case. */
export function openSide(
  { workload, cores, seed }: IngestPlan,
  folder: string,
  checkout: string | null,
  name: string,
): Side {
  mkdirSync(folder, { recursive: true })
  const corpus = createCorpus(seed, projectApiKey)
  const options: SideOptions = { folder, corpus, workload: workloadNamed(workload), cores, checkout }
  return { name, checkout, ingest: new IngestSide(options), samples: [], evenStretches: [] }
}

/** Sends a sample's requests, and waits until persons have caught up as well. */
export async function takeSample(
  { requests, connections }: IngestPlan,
  side: Side,
  generator: LoadProcess,
  isMeasured: boolean,
  say: (line: string) => void,
): Promise<void> {
  const stretch = await side.ingest.stretch(generator, {
    count: requests,
    connections,
    requestsPerSecond: null,
  })
  if (isMeasured) side.samples.push(stretch)
  const { events, acked, queryable, settled } = stretch
  const rates = [acked, queryable, settled].map(({ seconds }) => Math.round(events / seconds))
  const cost = ((settled.cpuSeconds * 1e6) / events).toFixed(1)
  const what = isMeasured ? `sample ${side.samples.length}` : 'warm-up'
  const speeds = `${rates[0]} events/s acked, ${rates[1]} queryable, ${rates[2]} settled`
  say(`${side.name} ${what}: ${speeds}, ${cost} CPU-s/million`)
}

/** In turn, the disk by itself before and after each, until every side has enough or too many were taken. */
async function takeEvenStretches(
  turns: readonly Turn[],
  folder: string,
  say: (line: string) => void,
): Promise<void> {
  const file = join(folder, 'disk-alone')
  for (let round = 0; turns.some(({ plan }) => round < plan.evenWarmUps); round++)
    for (const turn of turns) await evenStretch(turn, (line) => say(`${line}, to warm up`))
  let before: LatencyMs | null = null
  for (let round = 0; turns.some((turn) => round < turn.plan.evenTriesMax && !isEnough(turn)); round++) {
    for (const turn of turns) {
      before ??= await diskAlone(turn, file)
      const stretch = await evenStretch(turn, say)
      const after = await diskAlone(turn, file)
      turn.side.evenStretches.push({ stretch, disk: { before, after } })
      say(`the disk alone: p99 ${before.p99.toFixed(1)} before, ${after.p99.toFixed(1)} ms after`)
      before = after
    }
  }
}

function isEnough({ plan, side }: Turn): boolean {
  return quietOf(side.evenStretches).length >= plan.evenStretches
}

async function diskAlone({ plan, side }: Turn, file: string): Promise<LatencyMs> {
  const bytes = middle(side.samples, ({ journalBytes, requests }) => journalBytes / requests)
  const requestBytes = Math.ceil(bytes)
  const load = { file, requestsPerSecond: evenRate(side), seconds: diskSeconds, requestBytes }
  return await timeDiskAlone(load, plan.cores.server)
}

/** Sends at half the rate that the samples found. */
async function evenStretch({ plan, side, generator }: Turn, say: (line: string) => void): Promise<Stretch> {
  const { evenSeconds, connections, isPackedAhead } = plan
  const requestsPerSecond = evenRate(side)
  const count = Math.max(1, Math.round(requestsPerSecond * evenSeconds))
  if (isPackedAhead) await generator.prepare(count, side.ingest.sentCount)
  const stretch = await side.ingest.stretch(generator, { count, connections, requestsPerSecond })
  const { p50, p99 } = stretch.latencyMs
  const rate = `${side.name} ${requestsPerSecond.toFixed(1)} requests/s, half of what it takes`
  say(`${rate}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`)
  return stretch
}

/** Requests a second. */
function evenRate({ samples }: Side): number {
  return middle(samples, (one) => one.requests / queryableOrAcked(one)) / 2
}

function middle(samples: readonly Stretch[], of: (stretch: Stretch) => number): number {
  return quantile(samples.map(of), 0.5)
}

/** A server that acknowledges faster than it loads would fall behind for ever: what it keeps up with counts. */
function queryableOrAcked({ acked, queryable }: Stretch): number {
  return Math.max(acked.seconds, queryable.seconds)
}

/** Stops a server and judges its store, which goes when it kept its promises. */
export async function endSide({ name, checkout, ingest, samples, evenStretches }: Side): Promise<SideReport> {
  const end = await ingest.end()
  const broken = brokenLoad(end.verdict)
  if (broken.length === 0) ingest.remove()
  return {
    name,
    checkout,
    figures: figuresOf(samples, evenStretches, end),
    samples,
    verdict: end.verdict,
    broken,
  }
}
