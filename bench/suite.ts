// All workloads of the comparison in one run: a table, a result as JSON, and a report as a page of HTML.

import { join, resolve } from 'node:path'
import { baselinePath, readBaseline, writeResult, writeTable, writeText } from './baseline-file.ts'
import { describeCurve } from './curve.ts'
import { describeMachine } from './machine.ts'
import type { Outcome, ResultRow, Scenario } from './scenario.ts'
import { suiteHtml } from './suite-html.ts'
import { growthParts, suiteParts } from './suite-part.ts'
import {
  boundText,
  printFigure,
  printSpread,
  type SuiteResult,
  type SuiteRow,
  suiteRows,
  withPart,
} from './suite-result.ts'
import { readParts, runSuite } from './suite-run.ts'
import { describeLosses, printSpeeds, suiteTable } from './suite-table.ts'
import { describePeer } from './vs.ts'

const partNames = ['all', ...suiteParts, 'growth', ...growthParts].join(', ')

export const suite: Scenario = {
  question: 'how fast is it all, against the targets, its peers and the last time?',
  options: {
    quick: { fallback: 'no', meaning: 'yes: few and short samples' },
    parts: { fallback: 'all', meaning: `or some, with commas: ${partNames}` },
    out: { fallback: 'data/bench', meaning: 'folder for result.json and report.html' },
    baseline: { fallback: 'main', meaning: 'of bench/baseline/, to compare with' },
    save: {
      fallback: 'no',
      meaning: 'yes: what is measured is the baseline from now on, and the table of README',
    },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async (context) => {
    const { options, say } = context
    const run = {
      machine: describeMachine(),
      takenAt: new Date().toISOString().slice(0, 16).replace('T', ' '),
      isQuick: options.quick === 'yes',
    }
    const baseline = readBaseline(options.baseline ?? '')
    const out = resolve(options.out ?? '')
    let result: SuiteResult = { fastest: null, parts: [] }
    let kept: SuiteResult = baseline ?? result
    await runSuite({ ...context, run, parts: readParts(options.parts ?? '') }, (part) => {
      // After each part, so that a run that is ended keeps what it has.
      result = withPart(result, part, baseline)
      if (part.broken.length === 0) kept = withPart(kept, part, baseline)
      writeResult(join(out, 'result.json'), result)
      writeText(join(out, 'report.html'), suiteHtml(options.save === 'yes' ? kept : result, brokenOf(result)))
      if (options.save !== 'yes' || part.broken.length > 0) return
      writeResult(baselinePath(options.baseline ?? ''), kept)
      if (options.baseline === 'main') writeTable(suiteTable(kept))
    })
    say(`${join(out, 'report.html')} is written`)
    const rows = suiteRows(result)
    return {
      rows: [...rows.map(describe), ...describeOthers(result)],
      broken: brokenOf(result),
      slow: rows.flatMap(missed),
    } satisfies Outcome
  },
}

function brokenOf({ parts }: SuiteResult): string[] {
  return parts.flatMap(({ name, broken }) => broken.map((line) => `${name}: ${line}`))
}

function describe(row: SuiteRow): ResultRow {
  const { target, standing, before, ratio } = row
  const aims = `ship ${printFigure(target.ship)}, goal ${printFigure(target.goal)}: ${standing}`
  const earlier =
    before === null || ratio === null ? '' : `; before ${printFigure(before.median)}, ${ratio.toFixed(2)}×`
  const machine = row.speed === null ? '' : `; machine ${printSpeeds(row)} of its fastest`
  return {
    name: target.what,
    value: `${printSpread(row)} ${target.unit}; ${aims}${earlier}${machine}; ${boundText(row)}`,
  }
}

function describeOthers({ parts }: SuiteResult): ResultRow[] {
  return parts.flatMap(({ name, peers, points }) => [
    ...peers.map(describePeer),
    ...(peers.length === 0 ? [] : describeLosses(peers)).map((value) => ({ name, value })),
    ...describeCurve(name, points),
  ])
}

function missed({ target, standing, median }: SuiteRow): string[] {
  if (standing !== 'below') return []
  return [
    `${target.what}: ${printFigure(median)} ${target.unit}, ${printFigure(target.ship)} is the least we aim at`,
  ]
}
