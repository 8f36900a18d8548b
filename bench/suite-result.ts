// What a run of the suite found, part by part: figures of the targets, where an event's time goes, what peers take, how
// costs grow, and how fast the machine was meanwhile. It is kept as JSON; a baseline is such a file, in which each part
// says which run it is of.

import type { Point } from './curve.ts'
import type { Spread } from './ingest-figures.ts'
import {
  type Away,
  awayOf,
  type FixedWork,
  fastestOf,
  type MachineSpeed,
  speedShare,
} from './machine-speed.ts'
import type { PeerFigure } from './peer-comparison.ts'
import { type Standing, standingOf, type Target, targets } from './target.ts'

export interface SuiteFigure extends Spread {
  /** Of a target. */
  readonly id: string
  /** What keeps it from being better. */
  readonly bound: string
}

/** What a part measured. */
export interface PartFindings {
  readonly figures: readonly SuiteFigure[]
  /** Processor time an event, all of it, µs. */
  readonly cost: Spread | null
  /** The same by stage, each measured alone. */
  readonly stages: Readonly<Record<string, number>>
  readonly peers: readonly PeerFigure[]
  /** Of a curve of growth. */
  readonly points: readonly Point[]
  /** How much of the server's core other programs had: above a few per cent, rates are estimates. */
  readonly stolenShare: number | null
  readonly broken: readonly string[]
}

/** When and where parts were measured. */
export interface SuiteRun {
  readonly machine: string
  /** "2026-11-22 11:40", of the wall clock at its start in UTC. */
  readonly takenAt: string
  readonly isQuick: boolean
}

export interface MeasuredPart extends PartFindings {
  readonly name: string
  readonly run: SuiteRun
  /** Null when it was not looked at. */
  readonly speed: MachineSpeed | null
}

export interface SuitePart extends MeasuredPart {
  /** The same part as it was kept before; null when it is the first. */
  readonly before: MeasuredPart | null
}

export interface SuiteResult {
  /** The least that the fixed work ever took on this machine. */
  readonly fastest: FixedWork | null
  readonly parts: readonly SuitePart[]
}

export interface SuiteRow extends SuiteFigure {
  readonly target: Target
  readonly standing: Standing
  /** How fast the machine was, of its fastest. */
  readonly speed: number | null
  /** How often and how long the core itself was away, before the part and after it; for latencies. */
  readonly away: Away | null
  readonly before: (Spread & { readonly speed: number | null }) | null
  /** This figure of the one before; above 1 is better, whatever the unit. Null without one before. */
  readonly ratio: number | null
}

export const nothingFound: PartFindings = {
  figures: [],
  cost: null,
  stages: {},
  peers: [],
  points: [],
  stolenShare: null,
  broken: [],
}

/** A result with one part more, which stands in for the one of its name, and beside what the baseline has of it. */
export function withPart(result: SuiteResult, part: MeasuredPart, baseline: SuiteResult | null): SuiteResult {
  const before = beforeOf(part, baseline)
  const others = result.parts.filter(({ name }) => name !== part.name)
  const works = [
    result.fastest,
    baseline?.fastest,
    ...(part.speed === null ? [] : [part.speed.before.work, part.speed.after.work]),
  ]
  return {
    fastest: fastestOf(works.filter((work) => work !== null && work !== undefined)),
    parts: [...others, { ...part, before }],
  }
}

/** The last one kept of an earlier day: a day's own conditions are no comparison. Else the last one kept. */
function beforeOf({ name, run }: MeasuredPart, baseline: SuiteResult | null): MeasuredPart | null {
  const kept = baseline?.parts.find((one) => one.name === name)
  if (kept === undefined) return null
  const { before, ...last } = kept
  const isEarlier = (one: MeasuredPart): boolean => dayOf(one.run) < dayOf(run)
  return before !== null && !isEarlier(last) && isEarlier(before) ? before : last
}

function dayOf({ takenAt }: SuiteRun): string {
  return takenAt.slice(0, 10)
}

/** The figures with their targets, in the order of those; what was not measured is left out. */
export function suiteRows({ parts, fastest }: SuiteResult): SuiteRow[] {
  const all = parts.flatMap((part) => part.figures.map((figure) => ({ part, figure })))
  return targets.flatMap((target) => {
    const found = all.find(({ figure }) => figure.id === target.id)
    if (found === undefined) return []
    const { part, figure } = found
    const before = part.before?.figures.find(({ id }) => id === target.id)
    const quotient = before === undefined ? null : figure.median / before.median
    return [
      {
        ...figure,
        target,
        standing: standingOf(target, figure.median),
        speed: speedOf(part, fastest),
        away: target.unit === 'ms' && part.speed !== null ? awayOf(part.speed) : null,
        before: before === undefined ? null : { ...before, speed: speedOf(part.before, fastest) },
        ratio: quotient === null || target.better === 'more' ? quotient : 1 / quotient,
      },
    ]
  })
}

function speedOf(part: MeasuredPart | null, fastest: FixedWork | null): number | null {
  if (part === null || part.speed === null || fastest === null) return null
  return speedShare(part.speed, fastest)
}

/** The runs that parts are of, the latest first, and which those are: "w1, w3". */
export function runsOf(parts: readonly MeasuredPart[]): { readonly run: SuiteRun; readonly names: string }[] {
  const runs = new Map(parts.map(({ run }) => [JSON.stringify(run), run]))
  return [...runs]
    .map(([key, run]) => {
      const names = parts.filter((part) => JSON.stringify(part.run) === key).map(({ name }) => name)
      return { run, names: names.join(', ') }
    })
    .sort((a, b) => (a.run.takenAt < b.run.takenAt ? 1 : -1))
}

/** A figure as people read it: "35,120", "0.452". */
export function printFigure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) < 10) return value.toFixed(2)
  return Math.round(value).toLocaleString('en-US')
}

/** "35,120 (34,000 to 36,000)", or the figure alone where it is of one sample. */
export function printSpread({ median, min, max }: Spread): string {
  const range = min === max ? '' : ` (${printFigure(min)} to ${printFigure(max)})`
  return `${printFigure(median)}${range}`
}

/** What bounds a row, and for a latency how long the core itself was away. */
export function boundText({ bound, away }: SuiteRow): string {
  if (away === null) return bound
  const gaps = `up to ${away.longestMs.toFixed(0)} ms, ${away.count} times over 1 ms in 2 s`
  return `${bound}; the core itself was away ${gaps}`
}
