// The report of the suite as one page of HTML that needs no network: a bar for each figure between its ship and goal
// marks, what peers take, where an event's time goes, and how its cost grows.

import type { PeerFigure } from './peer-comparison.ts'
import { bars, curvePlot, escapeHtml, targetBar } from './suite-plot.ts'
import {
  boundText,
  printFigure,
  type SuitePart,
  type SuiteResult,
  type SuiteRow,
  suiteRows,
} from './suite-result.ts'
import { describeLosses, describeRuns, peerCells, printSpeeds } from './suite-table.ts'
import { workloadNamed } from './workload.ts'

const colours = { goal: '#2c8a4b', ship: '#c98a12', below: '#b8372f' } as const

/** `broken` is said first, whether or not the result has the parts that it is of. */
export function suiteHtml(result: SuiteResult, broken: readonly string[]): string {
  const { parts } = result
  const befores = parts.flatMap(({ before }) => (before === null ? [] : [before]))
  const runs = [...describeRuns('Measured', parts), ...describeRuns('Before', befores)]
  const costs = parts.flatMap(({ name, cost }) => (cost === null ? [] : [[name, cost.median] as const]))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Spate: bench</title><style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1400px; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
figure { display: inline-block; margin: 0 1rem 1rem 0 }
.below { color: #b8372f } .goal { color: #2c8a4b } .ship { color: #8a5f0c }
</style></head><body>
<h1>Spate: bench</h1>
<p>${runs.map(escapeHtml).join('<br>\n')}</p>
${broken.map((line) => `<p class="below">BROKEN: ${escapeHtml(line)}</p>`).join('\n')}
<p>One core for the server and all it starts, fsync on; a run counts only when every acknowledged event was found once.
Bars show the median, the thin line the range; the dashed marks are ship and goal, the grey one the figure before.
“Machine” is how fast a fixed piece of work was around the part, of the fastest that it ever was here (before in
brackets): rows of different speed are no comparison of builds.</p>
<table><tr><th>what<th>unit<th>median<th>before<th>of before<th>ship<th>goal<th><th>machine<th>bounded by</tr>
${suiteRows(result).map(figureRow).join('\n')}
</table>
${peersSection(parts.flatMap(({ peers }) => peers))}
${section('Processor time of an event, by workload (µs)', costs.length === 0 ? '' : bars(costs))}
${parts.map(({ stages }) => section('Stages, each alone (µs)', barsOf(stages))).join('')}
${section('Processor time of one, as there is more (µs)', parts.map(curveFigure).join('\n'))}
</body></html>
`
}

function section(title: string, content: string): string {
  return content.trim() === '' ? '' : `<h2>${escapeHtml(title)}</h2>\n${content}\n`
}

function barsOf(stages: Readonly<Record<string, number>>): string {
  const values = Object.entries(stages)
  return values.length === 0 ? '' : bars(values)
}

function figureRow(row: SuiteRow): string {
  const { target, standing, before, ratio } = row
  const { what, unit, ship, goal } = target
  const cell = (text: string): string => `<td class="number">${text}`
  const bar = targetBar(row, { ship, goal, before: before?.median ?? null }, colours[standing])
  return `<tr><td>${escapeHtml(what)}<td>${unit}<td class="number ${standing}">${printFigure(row.median)}
${cell(before === null ? '' : printFigure(before.median))}${cell(ratio === null ? '' : `${ratio.toFixed(2)}×`)}
${cell(printFigure(ship))}${cell(printFigure(goal))}<td>${bar}${cell(printSpeeds(row))}
<td>${escapeHtml(boundText(row))}</tr>`
}

function peersSection(figures: readonly PeerFigure[]): string {
  if (figures.length === 0) return ''
  const rows = figures.map((figure) => {
    const micros = figure.taken?.cpuMicros ?? null
    const beside = figures.filter(({ workload }) => workload === figure.workload)
    const largest = Math.max(...beside.map(({ taken }) => taken?.cpuMicros.max ?? 0))
    const colour = figure.peer === 'Spate' ? colours.goal : '#3a6ea5'
    const bar = micros === null ? '' : targetBar(micros, { ship: 0, goal: largest, before: null }, colour)
    const numbers = peerCells(figure).map((text) => `<td class="number">${escapeHtml(text)}`)
    const [title, peer, ack] = [workloadNamed(figure.workload).title, figure.peer, figure.ack].map(escapeHtml)
    return `<tr><td>${title}<td>${peer}${numbers.join('')}<td>${bar}<td>${ack}</tr>`
  })
  const head = `<tr><th>same events<th>taken by<th>µs of processor time an event<th>of ours<th>acked events/s
<th><th>an acknowledgement means</tr>`
  const losses = describeLosses(figures).map((line) => `<p>${escapeHtml(line)}</p>`)
  return section('Peers', `${losses.join('\n')}<table>${head}\n${rows.join('\n')}</table>`)
}

function curveFigure({ name, points, before }: SuitePart): string {
  if (points.length === 0) return ''
  return `<figure><figcaption>${escapeHtml(name)}</figcaption>${curvePlot(points, before?.points ?? [])}</figure>`
}
