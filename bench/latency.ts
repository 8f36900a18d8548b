// How long answers took: histograms of µs.

import { build, type Histogram } from 'hdr-histogram-js'

export interface LatencyMs {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

const microsMax = 600_000_000

export function openLatencies(): Histogram {
  return build({ highestTrackableValue: microsMax, numberOfSignificantValueDigits: 3 })
}

export function addLatency(latencies: Histogram, ms: number): void {
  latencies.recordValue(Math.min(microsMax, Math.round(ms * 1000)))
}

export function latencyOf(latencies: Histogram): LatencyMs {
  const ms = (percentile: number): number => latencies.getValueAtPercentile(percentile) / 1000
  return { p50: ms(50), p90: ms(90), p99: ms(99), max: ms(100) }
}
