// What one costs as there is more of something: the points of a curve, and how its last is compared with its first.

import { type Spread, spreadOf } from './ingest-figures.ts'
import type { SideReport } from './ingest-run.ts'
import type { ResultRow } from './scenario.ts'

export interface Point {
  readonly at: number
  readonly cpuMicros: number
  readonly perSecond: number
  /** What was measured in turn with it; absent, as in results that are kept, where each point was measured alone. */
  readonly beside?: Beside
}

/** The same with few, in the same minutes: of two figures of different minutes, the machine's speed is a part. */
export interface Beside {
  readonly at: number
  readonly cpuMicros: number
  /** What one costs at the point, of this; of neighbouring samples. */
  readonly times: Spread
}

/** What a curve was found to be, and what was broken on the way. */
export interface Curve {
  readonly points: readonly Point[]
  readonly broken: readonly string[]
}

/** From the first point to the last, or from what was measured beside the last. */
export interface Growth {
  readonly first: Pick<Point, 'at' | 'cpuMicros'>
  readonly last: Point
  /** What one costs at the last, of the first. */
  readonly times: Spread
  /** The same for each power of ten between. */
  readonly eachDecade: number
}

export function pointOf(at: number, samples: SideReport['samples']): Point {
  const perSecond = spreadOf(
    samples.map(
      ({ events, acked }) => events / Math.max(acked.seconds - acked.stolenSeconds, acked.seconds / 100),
    ),
  ).median
  return { at, cpuMicros: spreadOf(costs(samples)).median, perSecond }
}

/** `ofOthers` are the samples of another server; the two took turns. */
export function besideOf(
  at: number,
  samples: SideReport['samples'],
  ofOthers: SideReport['samples'],
): Beside {
  const micros = costs(ofOthers)
  const times = spreadOf(costs(samples).map((cost, index) => cost / micros[index]!)) // as many of each
  return { at, cpuMicros: spreadOf(micros).median, times }
}

/** µs of processor time an event, of each sample. */
function costs(samples: SideReport['samples']): number[] {
  return samples.map(({ events, settled }) => (settled.cpuSeconds * 1e6) / events)
}

/** A row a point, and how the cost grows from the first to the last, for each power of ten between. */
export function describeCurve(name: string, points: readonly Point[]): ResultRow[] {
  const rows = points.map(({ at, cpuMicros, perSecond, beside }) => ({
    name: `${name} ${at.toLocaleString('en-US')}`,
    value:
      `${cpuMicros.toFixed(1)} µs each, ${Math.round(perSecond).toLocaleString('en-US')} a second` +
      (beside === undefined ? '' : describeBeside(beside)),
  }))
  const growth = growthOf(points)
  if (growth === null) return rows
  return [...rows, { name: `${name} for each decade`, value: `${growth.eachDecade.toFixed(2)}× the cost` }]
}

function describeBeside({ at, cpuMicros, times }: Beside): string {
  const few = `${cpuMicros.toFixed(1)} µs at ${at.toLocaleString('en-US')}`
  return `; in turn with ${few}, ${printTimes(times)} of it`
}

/** "1.10× (0.95 to 1.20)", or the figure alone where it is of one sample. */
export function printTimes({ median, min, max }: Spread): string {
  return `${median.toFixed(2)}×${min === max ? '' : ` (${min.toFixed(2)} to ${max.toFixed(2)})`}`
}

/** Null where there is nothing to compare the last point with. */
export function growthOf(points: readonly Point[]): Growth | null {
  const last = points.at(-1)
  if (last === undefined) return null
  const first = last.beside ?? points[0]! // there is a last one
  if (first === last) return null
  const times = last.beside?.times ?? spreadOf([last.cpuMicros / first.cpuMicros])
  return { first, last, times, eachDecade: times.median ** (1 / Math.log10(last.at / first.at)) }
}
