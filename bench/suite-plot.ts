// The plots of the report, as SVG that stands in its page.

import type { Point } from './curve.ts'
import type { Spread } from './ingest-figures.ts'
import { printFigure } from './suite-result.ts'

const barWidth = 360
const blue = '#3a6ea5'
const grey = '#b9b9b9'

/** A bar for the median, a thin line for the range, marks for ship and goal, a thick one for the figure before. */
export function targetBar(
  { median, min, max }: Spread,
  { ship, goal, before }: { readonly ship: number; readonly goal: number; readonly before: number | null },
  colour: string,
): string {
  const width = 200
  const largest = Math.max(max, ship, goal, before ?? 0) * 1.05
  const at = (value: number): string => ((Math.max(0, value) / largest) * width).toFixed(1)
  const mark = (value: number, style: string): string =>
    `<line x1="${at(value)}" x2="${at(value)}" y1="0" y2="18" ${style}/>`
  const dashed = 'stroke="#222" stroke-dasharray="2 2"'
  const earlier = before === null ? '' : mark(before, `stroke="${grey}" stroke-width="3"`)
  return `<svg width="${width}" height="18" role="img">${earlier}
<rect y="4" width="${at(median)}" height="10" fill="${colour}"/>
<line x1="${at(min)}" x2="${at(max)}" y1="9" y2="9" stroke="#222"/>${mark(ship, dashed)}${mark(goal, dashed)}</svg>`
}

/** A bar for each value, with its name before and its number behind. */
export function bars(values: readonly (readonly [string, number])[]): string {
  const largest = Math.max(1e-9, ...values.map(([, value]) => value))
  const height = 22
  const rows = values.map(([name, value], index) => {
    const y = index * height
    const width = ((Math.max(0, value) / largest) * barWidth).toFixed(1)
    return `<text x="0" y="${y + 15}">${escapeHtml(name)}</text>
<rect x="190" y="${y + 4}" width="${width}" height="14" fill="${blue}"/>
<text x="${200 + Number(width)}" y="${y + 15}">${value.toFixed(1)}</text>`
  })
  return `<svg width="680" height="${values.length * height}" font-size="13" role="img">${rows.join('')}</svg>`
}

/** What one costs (µs, from 0) over how many there are (by powers of ten); grey: before. */
export function curvePlot(points: readonly Point[], before: readonly Point[]): string {
  const [width, height, left, top, bottom] = [420, 220, 20, 24, 24]
  const all = [...points, ...before]
  const logs = all.map(({ at }) => Math.log10(at))
  const [from, to] = [Math.min(...logs), Math.max(...logs)]
  const largest = Math.max(1e-9, ...all.map(({ cpuMicros }) => cpuMicros))
  const x = (at: number): number =>
    left + ((Math.log10(at) - from) / Math.max(to - from, 1e-9)) * (width - 4 * left)
  const y = (micros: number): number => height - bottom - (micros / largest) * (height - top - bottom)
  const place = ({ at, cpuMicros }: Point): string => `${x(at).toFixed(1)},${y(cpuMicros).toFixed(1)}`
  const line = (some: readonly Point[], colour: string): string =>
    `<polyline points="${some.map(place).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`
  const dots = points.map(({ at, cpuMicros }) => {
    const [dotX, dotY] = [x(at).toFixed(1), y(cpuMicros)]
    return `<circle cx="${dotX}" cy="${dotY.toFixed(1)}" r="3" fill="${blue}"/>
<text x="${dotX}" y="${(dotY - 8).toFixed(1)}" text-anchor="middle">${printFigure(cpuMicros)}</text>
<text x="${dotX}" y="${height - 6}" text-anchor="middle">${shortCount(at)}</text>`
  })
  const ground = `<line x1="0" x2="${width}" y1="${y(0)}" y2="${y(0)}" stroke="#222"/>`
  return `<svg width="${width}" height="${height}" font-size="11" role="img">${ground}
${line(before, grey)}${line(points, blue)}${dots.join('\n')}</svg>`
}

/** "18k", "5M": marks of a curve stand close. */
function shortCount(count: number): string {
  if (count >= 1e6) return `${Number((count / 1e6).toPrecision(2))}M`
  return count >= 1e4 ? `${Number((count / 1e3).toPrecision(2))}k` : String(count)
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
