// What keeps a figure from being better, in words, as far as the run itself can tell.

import { busyShare, describeDisk, spreadOf } from './ingest-figures.ts'
import type { SideReport } from './ingest-run.ts'
import { eventStages } from './stage-figures.ts'
import { workloadNamed } from './workload.ts'

/** So busy, the generator or the core is what bounds a rate. */
const generatorShareMax = 0.9
const busyShareMin = 0.85

/** What a rate is bounded by: the generator, waiting, or the core, and then by whom and which stages. */
export function rateBound(
  name: string,
  { figures, samples }: Pick<SideReport, 'figures' | 'samples'>,
  stages: Readonly<Record<string, number>>,
  end: 'acked' | 'queryable',
): string {
  if (figures.generatorShare > generatorShareMax) return 'the generator'
  const busy = spreadOf(samples.map((sample) => busyShare(sample[end]))).median
  const { mainThread, otherThreads, postgres } = figures.cpuShares
  const whose = [
    `main thread ${micros(mainThread)}`,
    `other threads ${micros(otherThreads)}`,
    `Postgres ${micros(postgres)}`,
  ]
  const cost = `${micros(figures.cpuSecondsPerMillion.median)} µs an event, of which ${whose.join(', ')}`
  if (busy < busyShareMin) return `waiting: the core is busy ${percent(busy)}; ${cost}`
  // Stages are measured on events of large batches: of a single one they say little.
  return `the core: ${cost}${workloadNamed(name).eventCount === 1 ? '' : stagesText(stages)}`
}

function stagesText(stages: Readonly<Record<string, number>>): string {
  const known = eventStages
    .map((name) => ({ name, cost: stages[name] ?? 0 }))
    .filter(({ cost }) => cost > 0)
    .sort((a, b) => b.cost - a.cost)
  if (known.length === 0) return ''
  const sum = known.reduce((all, { cost }) => all + cost, 0)
  const largest = known.slice(0, 3).map(({ name, cost }) => `${name} ${micros(cost)}`)
  return `; stages alone ${micros(sum)}: ${largest.join(', ')} …`
}

/** What the slowest answers at an even rate wait for, and how busy the core was meanwhile. */
export function latencyBound({ figures }: Pick<SideReport, 'figures'>): string {
  const { evenLatencyMs, evenBusyShare, evenDisk } = figures
  if (evenLatencyMs === null || evenBusyShare === null || evenDisk === null) return ''
  const { p50, max } = evenLatencyMs
  const times = `p50 ${p50.median.toFixed(1)}, max ${max.max.toFixed(0)} ms`
  const core = `fsync, and threads that share a core busy ${percent(evenBusyShare)}: ${times}`
  return `${core}; the disk ${describeDisk(evenDisk)}`
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function micros(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0)
}
