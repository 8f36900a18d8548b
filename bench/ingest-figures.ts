// Figures of a workload from its stretches: medians, and how far the samples are apart.

import { type DiskAround, isDiskQuiet } from './disk-alone.ts'
import type { CpuShares, Duration, SideEnd, Stretch } from './ingest-side.ts'
import { quantile } from './scenario.ts'

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Requests at an even rate, and what the disk took by itself around them. */
export interface EvenStretch {
  readonly stretch: Stretch
  readonly disk: DiskAround
}

/** What the disk took of `EvenStretch`es, ms. */
export interface EvenDisk {
  /** Of the disk by itself, around all of them. */
  readonly p99: Spread
  /** Stretches whose disk was quiet, of which the latencies are; 0: of all. */
  readonly quietCount: number
  readonly count: number
  /** Of requests in all of them, the median. */
  readonly p99OfAll: number
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
  readonly evenDisk: EvenDisk | null
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
  evenStretches: readonly EvenStretch[],
  end: Omit<SideEnd, 'verdict'>,
): IngestFigures {
  const spread = (of: (stretch: Stretch) => number): Spread => spreadOf(samples.map(of))
  const isEven = evenStretches.length > 0
  const quiet = quietOf(evenStretches)
  const counted = quiet.length > 0 ? quiet : evenStretches
  const evenSpread = (of: (stretch: Stretch) => number): Spread =>
    spreadOf(counted.map(({ stretch }) => of(stretch)))
  const share = (of: (shares: CpuShares) => number): number =>
    spread(({ events, shares }) => (of(shares) * 1e6) / events).median
  return {
    requestsPerSecond: spread(({ requests, acked }) => requests / ownSeconds(acked)),
    ackedPerSecond: spread(({ events, acked }) => events / ownSeconds(acked)),
    queryablePerSecond: spread(queryableRate),
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
    evenDisk: isEven
      ? {
          p99: spreadOf(evenStretches.flatMap(({ disk: { before, after } }) => [before.p99, after.p99])),
          quietCount: quiet.length,
          count: evenStretches.length,
          p99OfAll: spreadOf(evenStretches.map(({ stretch }) => stretch.latencyMs.p99)).median,
        }
      : null,
    evenBusyShare: isEven ? evenSpread(({ acked }) => acked.cpuSeconds / acked.seconds).median : null,
    freshnessP95Ms: end.freshness?.p95Ms ?? null,
    stolenShare: spread(({ settled }) => settled.stolenSeconds / settled.seconds).median,
    generatorShare: spread(({ generatorShare }) => generatorShare).max,
    overloaded: samples.reduce((sum, { overloaded }) => sum + overloaded, 0),
  }
}

/** Those whose disk was quiet around them. */
export function quietOf(evenStretches: readonly EvenStretch[]): EvenStretch[] {
  return evenStretches.filter(({ disk }) => isDiskQuiet(disk))
}

/** Events a second. */
export function queryableRate({ events, queryable }: Stretch): number {
  return events / ownSeconds(queryable)
}

export function spreadOf(samples: readonly number[]): Spread {
  return { median: quantile(samples, 0.5), min: Math.min(...samples), max: Math.max(...samples) }
}

/** "alone, in turn: p99 2.4 (1.9 to 31.0) ms, quiet around 11 of 14 stretches, which count; p99 of all 8.1 ms". */
export function describeDisk({ p99, quietCount, count, p99OfAll }: EvenDisk): string {
  const [median, min, max, all] = [p99.median, p99.min, p99.max, p99OfAll].map((ms) => ms.toFixed(1))
  const which =
    quietCount === 0
      ? `never quiet, so all ${count} stretches count`
      : `quiet around ${quietCount} of ${count} stretches, which count`
  return `alone, in turn: p99 ${median} (${min} to ${max}) ms, ${which}; p99 of all ${all} ms`
}

/** How much of the core the server used while it had it. */
export function busyShare(duration: Duration): number {
  return duration.cpuSeconds / ownSeconds(duration)
}

/** What is left of a duration when other programs' share of the core is taken away. */
function ownSeconds({ seconds, stolenSeconds }: Duration): number {
  return Math.max(seconds - stolenSeconds, seconds / 100)
}
