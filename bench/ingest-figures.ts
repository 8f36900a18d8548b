// Figures of a workload from its stretches: medians, and how far the samples are apart.

import type { CpuShares, Duration, SideEnd, Stretch } from './ingest-side.ts'
import { quantile } from './scenario.ts'

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** All figures are of one core; `even` ones of requests at half the rate that the server takes. */
export interface IngestFigures {
  readonly requestsPerSecond: Spread
  readonly ackedPerSecond: Spread
  readonly queryablePerSecond: Spread
  /** Events until queryable for each second of processor time. */
  readonly queryablePerCpuSecond: Spread
  /** Until persons have caught up too: everything that an event costs. */
  readonly cpuSecondsPerMillion: Spread
  /** Whose that is, for a million events. */
  readonly cpuShares: CpuShares
  readonly journalBytesPerEvent: number
  readonly diskBytesPerEvent: number
  readonly peakRssBytes: number
  readonly evenLatencyMs: { readonly p50: Spread; readonly p99: Spread; readonly max: Spread } | null
  /** How busy the core was with the server meanwhile, of 1, whoever had it for the rest: the median. */
  readonly evenBusyShare: number | null
  readonly freshnessP95Ms: number | null
  /** How much of the core other programs had. */
  readonly stolenShare: number
  readonly generatorShare: number
  readonly overloaded: number
}

export function figuresOf(
  samples: readonly Stretch[],
  evenStretches: readonly Stretch[],
  end: Omit<SideEnd, 'verdict'>,
): IngestFigures {
  const spread = (of: (stretch: Stretch) => number): Spread => spreadOf(samples.map(of))
  const isEven = evenStretches.length > 0
  const evenSpread = (of: (stretch: Stretch) => number): Spread => spreadOf(evenStretches.map(of))
  const share = (of: (shares: CpuShares) => number): number =>
    spread(({ events, shares }) => (of(shares) * 1e6) / events).median
  return {
    requestsPerSecond: spread(({ requests, acked }) => requests / ownSeconds(acked)),
    ackedPerSecond: spread(({ events, acked }) => events / ownSeconds(acked)),
    queryablePerSecond: spread(({ events, queryable }) => events / ownSeconds(queryable)),
    queryablePerCpuSecond: spread(({ events, queryable }) => events / queryable.cpuSeconds),
    cpuSecondsPerMillion: spread(({ events, settled }) => (settled.cpuSeconds * 1e6) / events),
    cpuShares: {
      mainThread: share(({ mainThread }) => mainThread),
      otherThreads: share(({ otherThreads }) => otherThreads),
      postgres: share(({ postgres }) => postgres),
    },
    journalBytesPerEvent: spread(({ events, journalBytes }) => journalBytes / events).median,
    diskBytesPerEvent: end.diskBytesPerEvent,
    peakRssBytes: end.peakRssBytes,
    evenLatencyMs: isEven
      ? {
          p50: evenSpread(({ latencyMs }) => latencyMs.p50),
          p99: evenSpread(({ latencyMs }) => latencyMs.p99),
          max: evenSpread(({ latencyMs }) => latencyMs.max),
        }
      : null,
    evenBusyShare: isEven ? evenSpread(({ acked }) => acked.cpuSeconds / acked.seconds).median : null,
    freshnessP95Ms: end.freshness?.p95Ms ?? null,
    stolenShare: spread(({ settled }) => settled.stolenSeconds / settled.seconds).median,
    generatorShare: spread(({ generatorShare }) => generatorShare).max,
    overloaded: samples.reduce((sum, { overloaded }) => sum + overloaded, 0),
  }
}

export function spreadOf(samples: readonly number[]): Spread {
  return { median: quantile(samples, 0.5), min: Math.min(...samples), max: Math.max(...samples) }
}

/** How much of the core the server used while it had it. */
export function busyShare(duration: Duration): number {
  return duration.cpuSeconds / ownSeconds(duration)
}

/** What is left of a duration when other programs' share of the core is taken away. */
function ownSeconds({ seconds, stolenSeconds }: Duration): number {
  return Math.max(seconds - stolenSeconds, seconds / 100)
}
