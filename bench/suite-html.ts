// The report of the suite as one page of HTML that needs no network: a bar for each figure between its ship and goal
// marks, where an event's time goes, and the table.

import { printFigure, type SuiteResult, type SuiteRow, suiteRows } from './suite-result.ts'

const barWidth = 360
const colours = { goal: '#2c8a4b', ship: '#c98a12', below: '#b8372f' } as const

export function suiteHtml(result: SuiteResult, baseline: SuiteResult | null): string {
  const rows = suiteRows(result, baseline)
  const noise = `Other programs had ${(result.stolenShare * 100).toFixed(0)} % of the server's core.`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Spate: bench</title><style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1150px; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd }
td.number { text-align: right; font-variant-numeric: tabular-nums }
.below { color: #b8372f } .goal { color: #2c8a4b } .ship { color: #8a5f0c }
</style></head><body>
<h1>Spate: bench</h1>
<p>${escapeHtml(result.machine)}<br>${escapeHtml(result.date)}${result.isQuick ? ' (short run)' : ''}. ${noise}</p>
${result.broken.map((line) => `<p class="below">BROKEN: ${escapeHtml(line)}</p>`).join('\n')}
<p>One core for the server and all it starts, fsync on; a run counts only when every acknowledged event was found once.
Bars show the median, the thin line the range; the marks are ship and goal.</p>
<table><tr><th>what<th>unit<th>median<th>ship<th>goal<th><th>of baseline<th>bounded by</tr>
${rows.map(tableRow).join('\n')}
</table>
<h2>Processor time of an event, by workload (µs)</h2>
${bars(Object.entries(result.costs).map(([name, { median }]) => [name, median]))}
<h2>Stages, each alone (µs)</h2>
${bars(Object.entries(result.stages))}
</body></html>
`
}

function tableRow({ target, standing, median, min, max, ratio, bound }: SuiteRow): string {
  const { what, unit, ship, goal } = target
  const number = (value: number): string => `<td class="number">${printFigure(value)}`
  const ofBaseline = `<td class="number">${ratio === null ? '' : `${ratio.toFixed(2)}×`}`
  return `<tr><td>${escapeHtml(what)}<td>${unit}${number(median)}${number(ship)}${number(goal)}
<td>${targetBar({ median, min, max }, ship, goal, colours[standing])}${ofBaseline}<td>${escapeHtml(bound)}</tr>`
}

function targetBar(
  { median, min, max }: Pick<SuiteRow, 'median' | 'min' | 'max'>,
  ship: number,
  goal: number,
  colour: string,
): string {
  const width = 200
  const largest = Math.max(max, ship, goal) * 1.05
  const at = (value: number): string => ((Math.max(0, value) / largest) * width).toFixed(1)
  const mark = (value: number): string =>
    `<line x1="${at(value)}" x2="${at(value)}" y1="0" y2="18" stroke="#222" stroke-dasharray="2 2"/>`
  return `<svg width="${width}" height="18" role="img"><rect y="4" width="${at(median)}" height="10" fill="${colour}"/>
<line x1="${at(min)}" x2="${at(max)}" y1="9" y2="9" stroke="#222"/>${mark(ship)}${mark(goal)}</svg>`
}

function bars(values: readonly (readonly [string, number])[]): string {
  const largest = Math.max(1e-9, ...values.map(([, value]) => value))
  const height = 22
  const rows = values.map(([name, value], index) => {
    const y = index * height
    const width = ((Math.max(0, value) / largest) * barWidth).toFixed(1)
    return `<text x="0" y="${y + 15}">${escapeHtml(name)}</text>
<rect x="190" y="${y + 4}" width="${width}" height="14" fill="#3a6ea5"/>
<text x="${200 + Number(width)}" y="${y + 15}">${value.toFixed(1)}</text>`
  })
  return `<svg width="680" height="${values.length * height}" font-size="13" role="img">${rows.join('')}</svg>`
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
