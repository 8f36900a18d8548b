// What a run of the suite found: figures of the targets, where an event's time goes, under which conditions. It is
// kept as JSON; a baseline is such a file, and the table of README is printed from one.

import type { Spread } from './ingest-figures.ts'
import { type Standing, standingOf, type Target, targets } from './target.ts'

export interface SuiteFigure extends Spread {
  /** Of a target. */
  readonly id: string
  /** What keeps it from being better. */
  readonly bound: string
}

export interface SuiteResult {
  readonly machine: string
  readonly date: string
  readonly isQuick: boolean
  readonly figures: readonly SuiteFigure[]
  /** Processor time an event, all of it: µs, by workload. */
  readonly costs: Readonly<Record<string, Spread>>
  /** The same by stage, each measured alone. */
  readonly stages: Readonly<Record<string, number>>
  /** How much of the server's core other programs had: above a few per cent, rates are estimates. */
  readonly stolenShare: number
  readonly broken: readonly string[]
}

export interface SuiteRow extends SuiteFigure {
  readonly target: Target
  readonly standing: Standing
  /** This figure of the baseline's; above 1 is better, whatever the unit. Null without baseline. */
  readonly ratio: number | null
}

/** The figures with their targets, in the order of those; what was not measured is left out. */
export function suiteRows(result: SuiteResult, baseline: SuiteResult | null): SuiteRow[] {
  return targets.flatMap((target) => {
    const figure = result.figures.find(({ id }) => id === target.id)
    if (figure === undefined) return []
    const before = baseline?.figures.find(({ id }) => id === target.id)?.median
    const quotient = before === undefined ? null : figure.median / before
    const ratio = quotient === null || target.better === 'more' ? quotient : 1 / quotient
    return [{ ...figure, target, standing: standingOf(target, figure.median), ratio }]
  })
}

/** A figure as people read it: "35,120", "0.452". */
export function printFigure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) < 10) return value.toFixed(2)
  return Math.round(value).toLocaleString('en-US')
}

/** The result as a table of Markdown, the same for the same result. */
export function suiteTable(result: SuiteResult): string {
  const rows = suiteRows(result, null).map(({ target, standing, median, min, max, bound }) => {
    const figure = `${printFigure(median)} (${printFigure(min)} to ${printFigure(max)})`
    const aims = `${printFigure(target.ship)} | ${printFigure(target.goal)}`
    return `| ${target.what} | ${target.unit} | ${figure} | ${aims} | ${standing} | ${bound} |`
  })
  return [
    `${result.machine}; ${result.date}; others had ${(result.stolenShare * 100).toFixed(0)} % of the core.`,
    '',
    '| what | unit | median (range) | ship | goal | reaches | bounded by |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}
