// All workloads of the comparison in one run: a table, a result as JSON, and a report as a page of HTML.

import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { baselinePath, readBaseline, writeResult, writeTable } from './baseline-file.ts'
import { describeMachine } from './machine.ts'
import { parseCores } from './pinned.ts'
import { type Outcome, quantile, type ResultRow, type Scenario } from './scenario.ts'
import { suiteHtml } from './suite-html.ts'
import { printFigure, type SuiteResult, type SuiteRow, suiteRows, suiteTable } from './suite-result.ts'
import { runSuite, suiteParts } from './suite-run.ts'

export const suite: Scenario = {
  question: 'how fast is it all, against the targets and the last time?',
  options: {
    quick: { fallback: 'no', meaning: 'yes: few and short samples' },
    parts: { fallback: 'all', meaning: `or some, with commas: ${suiteParts.join(', ')}` },
    out: { fallback: 'data/bench', meaning: 'folder for result.json and report.html' },
    baseline: { fallback: 'main', meaning: 'of bench/baseline/, to compare with' },
    save: { fallback: 'no', meaning: 'yes: the result is the baseline from now on, and the table of README' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async ({ options, folder, say }) => {
    const isQuick = options.quick === 'yes'
    const parts = options.parts === 'all' ? suiteParts : (options.parts ?? '').split(',')
    const unknown = parts.find((part) => !suiteParts.includes(part))
    if (unknown !== undefined) throw new Error(`there is no part ${unknown}`)
    const cores = parseCores(options.cores ?? '')
    const measured = await runSuite({ isQuick, parts, cores, folder, say })
    const result: SuiteResult = {
      machine: describeMachine(),
      date: new Date().toISOString().slice(0, 10),
      isQuick,
      figures: measured.figures,
      costs: measured.costs,
      stages: measured.stages,
      stolenShare: measured.stolenShares.length === 0 ? 0 : quantile(measured.stolenShares, 0.5),
      broken: measured.broken,
    }
    const baseline = readBaseline(options.baseline ?? '')
    const out = resolve(options.out ?? '')
    writeResult(join(out, 'result.json'), result)
    writeFileSync(join(out, 'report.html'), suiteHtml(result, baseline))
    say(`${join(out, 'report.html')} is written`)
    if (options.save === 'yes' && result.broken.length === 0) {
      writeResult(baselinePath(options.baseline ?? ''), result)
      writeTable(suiteTable(result))
    }
    const rows = suiteRows(result, baseline)
    return { rows: rows.map(describe), broken: result.broken, slow: rows.flatMap(missed) } satisfies Outcome
  },
}

function describe({ target, standing, median, min, max, ratio, bound }: SuiteRow): ResultRow {
  const range = min === max ? '' : ` (${printFigure(min)} to ${printFigure(max)})`
  const aims = `ship ${printFigure(target.ship)}, goal ${printFigure(target.goal)}: ${standing}`
  const before = ratio === null ? '' : `; ${ratio.toFixed(2)}× the baseline`
  return {
    name: target.what,
    value: `${printFigure(median)} ${target.unit}${range}; ${aims}${before}; ${bound}`,
  }
}

function missed({ target, standing, median }: SuiteRow): string[] {
  if (standing !== 'below') return []
  return [
    `${target.what}: ${printFigure(median)} ${target.unit}, ${printFigure(target.ship)} is the least we aim at`,
  ]
}
