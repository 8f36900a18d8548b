// The result of the suite as Markdown, the same for the same result: bench/README.md has it between its marks.

import { growthOf, printTimes } from './curve.ts'
import type { PeerFigure } from './peer-comparison.ts'
import {
  boundText,
  type MeasuredPart,
  printFigure,
  printSpread,
  runsOf,
  type SuiteResult,
  type SuiteRow,
  suiteRows,
} from './suite-result.ts'
import { workloadNamed } from './workload.ts'

export function suiteTable(result: SuiteResult): string {
  const befores = result.parts.flatMap(({ before }) => (before === null ? [] : [before]))
  const sections = [
    [...describeRuns('Measured', result.parts), ...describeRuns('Before', befores)].map(
      (line) => `- ${line}`,
    ),
    figureTable(suiteRows(result)),
    peerTable(result.parts.flatMap(({ peers }) => peers)),
    curveTable(result.parts),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

/** "Measured 2026-11-22 11:40 on 2 × …, commit 1a2b3c4; others had 0 % of the core: w1, w3". */
export function describeRuns(what: string, parts: readonly MeasuredPart[]): string[] {
  return runsOf(parts).map(({ run, names }) => {
    const own = parts.filter((part) => part.run.takenAt === run.takenAt)
    const shares = own.flatMap(({ stolenShare }) => (stolenShare === null ? [] : [stolenShare]))
    const others =
      shares.length === 0 ? '' : `; others had ${percent(Math.max(...shares))} of the core at most`
    return `${what} ${run.takenAt}${run.isQuick ? ' (short run)' : ''} on ${run.machine}${others}: ${names}`
  })
}

function figureTable(rows: readonly SuiteRow[]): string[] {
  if (rows.length === 0) return []
  return [
    '| what | unit | median (range) | before | of before | ship | goal | reaches | machine (before) | bounded by |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => {
      const { target, standing, before, ratio } = row
      const cells = [
        target.what,
        target.unit,
        printSpread(row),
        before === null ? '' : printFigure(before.median),
        ratio === null ? '' : `${ratio.toFixed(2)}×`,
        printFigure(target.ship),
        printFigure(target.goal),
        standing,
        printSpeeds(row),
        boundText(row),
      ]
      return `| ${cells.join(' | ')} |`
    }),
  ]
}

/** "0.62 (0.55)": the machine's speed now and before, of its fastest. */
export function printSpeeds({ speed, before }: SuiteRow): string {
  const earlier = before === null || before.speed === null ? '' : ` (${before.speed.toFixed(2)})`
  return speed === null ? earlier.trim() : `${speed.toFixed(2)}${earlier}`
}

function peerTable(figures: readonly PeerFigure[]): string[] {
  if (figures.length === 0) return []
  return [
    '| same events | taken by | µs of processor time an event | of ours | acked events/s | an acknowledgement means |',
    '| --- | --- | --- | --- | --- | --- |',
    ...figures.map((figure) => {
      const cells = [workloadNamed(figure.workload).title, figure.peer, ...peerCells(figure), figure.ack]
      return `| ${cells.join(' | ')} |`
    }),
    '',
    ...describeLosses(figures).map((line) => line.replace(/^We lose:/, '**$&**')),
  ]
}

/** Cost, its ratio to ours, and rate; or why there are none. */
export function peerCells({ taken, fault }: PeerFigure): string[] {
  if (taken === null) return [`left out: ${fault}`, '', '']
  const { cpuMicros, ofFirst, ackedPerSecond } = taken
  return [
    printSpread(cpuMicros),
    ofFirst === null ? '' : `${printSpread(ofFirst)}`,
    printSpread(ackedPerSecond),
  ]
}

/** Where a peer takes less for the same events than we do, in plain words. */
export function describeLosses(figures: readonly PeerFigure[]): string[] {
  const lost = figures.flatMap(({ workload, peer, ack, taken }) => {
    const ofFirst = taken?.ofFirst
    if (ofFirst === null || ofFirst === undefined || ofFirst.median >= 1) return []
    const doubt = ofFirst.max >= 1 ? ', in some samples more' : ''
    const times = `${printFigure(ofFirst.median)} of our processor time${doubt}`
    return [`We lose: ${workloadNamed(workload).title}: ${peer} takes ${times}; its acknowledgement: ${ack}.`]
  })
  return lost.length === 0 ? ['None of them takes less processor time than we do.'] : lost
}

function curveTable(parts: readonly MeasuredPart[]): string[] {
  const rows = parts.flatMap(({ name, points }) => {
    const growth = growthOf(points)
    if (growth === null) return []
    const { first, last, times, eachDecade } = growth
    const at = ({ cpuMicros, at }: typeof first): string =>
      `${printFigure(cpuMicros)} µs at ${at.toLocaleString('en-US')}`
    return [`| ${name} | ${at(first)} | ${at(last)} | ${printTimes(times)} | ${eachDecade.toFixed(2)}× |`]
  })
  if (rows.length === 0) return []
  return [
    '| cost of one, as there is more | first | last | last of first | for each decade |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
