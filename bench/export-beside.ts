// Ingestion in turns: alone, and with something beside it that never pauses.

import type { ExportRuns } from './export-runs.ts'
import { type Spread, spreadOf } from './ingest-figures.ts'
import type { IngestSide, Stretch } from './ingest-side.ts'
import type { LoadProcess } from './load-process.ts'
import { type Context, integerOption, type ResultRow } from './scenario.ts'
import { workloadNamed } from './workload.ts'

/** What runs beside ingestion. */
const companies = ['alone', 'export', 'queries'] as const
type Company = (typeof companies)[number]

export interface Turn {
  readonly company: Company
  readonly stretch: Stretch
  /** Events exported meanwhile, or queries answered. */
  readonly done: number
}

/** What runs beside ingestion may slow it so much. */
const slowdownMax = 0.1
const queriesAtOnce = 2
/** Reads the properties of every event: what a person asks who does not know how much there is. */
const heavyQuery = `select properties.$browser, event, count(), count(distinct distinct_id),
  avg(toFloat(properties.price)) from events group by properties.$browser, event order by count() desc`

interface Parts extends Pick<Context, 'options' | 'say'> {
  readonly side: IngestSide
  readonly runs: ExportRuns
  readonly generator: LoadProcess
}

/** Each company in turn, as often as the options say; the first round warms up. */
export async function besideTurns(parts: Parts): Promise<Turn[]> {
  const { options, say, side, generator } = parts
  const rounds = integerOption(options, 'turns')
  const count = integerOption(options, 'requests')
  const turns: Turn[] = []
  if (rounds === 0) return turns
  await generator.prepare(count * companies.length * (rounds + 1), side.sentCount)
  for (let round = 0; round <= rounds; round++) {
    for (const company of companies) {
      const turn = await takeTurn(parts, company, count)
      if (round > 0) turns.push(turn)
      const { acked, queryable } = ratesOf(turn)
      const rates = `${Math.round(acked)} events/s acked, ${Math.round(queryable)} queryable`
      const name = round === 0 ? 'warm-up' : `turn ${round}`
      say(`${name} ${company}: ${rates}, ${microsOf(turn).toFixed(1)} µs/event, ${turn.done} done beside`)
    }
  }
  return turns
}

async function takeTurn({ side, runs, generator }: Parts, company: Company, count: number): Promise<Turn> {
  const over = new AbortController()
  const beside = companionOf(company, side, runs, over.signal)
  const { connections } = workloadNamed('w3')
  const stretch = await side.stretch(generator, { count, connections, requestsPerSecond: null })
  over.abort()
  return { company, stretch, done: await beside }
}

/** Keeps going until `over` is aborted, and resolves with how much it has done. */
async function companionOf(
  company: Company,
  side: IngestSide,
  runs: ExportRuns,
  over: AbortSignal,
): Promise<number> {
  let done = 0
  if (company === 'export') while (!over.aborted) done += (await runs.exportAll(() => over.aborted)).records
  if (company === 'queries') {
    const ask = async (): Promise<void> => {
      while (!over.aborted) if (await query(side, over)) done++
    }
    await Promise.all(Array.from({ length: queriesAtOnce }, ask))
  }
  return done
}

/** Asks once; false for a query that got no answer. */
async function query({ server }: IngestSide, over: AbortSignal): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/projects/${server.projectId}/query/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.personalApiKey}` },
    body: JSON.stringify({ query: { kind: 'HogQLQuery', query: heavyQuery } }),
    signal: over,
  }).catch((error: unknown) => {
    if (over.aborted) return null
    throw error
  })
  if (response === null) return false
  const text = await response.text().catch(() => '')
  // One that takes longer than people may wait is stopped, and has cost what it has cost.
  if (response.status !== 200 && response.status !== 503)
    throw new Error(`a query was answered ${response.status}: ${text}`)
  return response.status === 200
}

/** Processor time of an event, in whatever it went (µs). */
function microsOf({ stretch: { events, settled } }: Turn): number {
  return (settled.cpuSeconds * 1e6) / events
}

function ratesOf({ stretch: { events, acked, queryable } }: Turn): { acked: number; queryable: number } {
  return { acked: events / acked.seconds, queryable: events / queryable.seconds }
}

/** Neighbours ran under the same conditions: a turn is compared with the one alone of its round. */
function ratios(turns: readonly Turn[], company: Company, what: 'acked' | 'queryable'): Spread {
  const of = (one: Company): Turn[] => turns.filter((turn) => turn.company === one)
  const alone = of('alone')
  return spreadOf(of(company).map((turn, index) => ratesOf(turn)[what] / ratesOf(alone[index]!)[what]))
}

export function describeTurns(turns: readonly Turn[]): ResultRow[] {
  if (turns.length === 0) return []
  return companies.flatMap((company) => {
    const own = turns.filter((turn) => turn.company === company)
    const rows = (['acked', 'queryable'] as const).map((what) => {
      const { median } = spreadOf(own.map((turn) => ratesOf(turn)[what]))
      const ratio = ratios(turns, company, what)
      const range = `${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)}`
      const beside = company === 'alone' ? '' : `: ${ratio.median.toFixed(3)} of alone (${range})`
      return {
        name: `${company} events/s ${what}`,
        value: `${Math.round(median).toLocaleString('en-US')}${beside}`,
      }
    })
    const micros = own.map(microsOf)
    const alone = turns.filter((turn) => turn.company === 'alone').map(microsOf)
    const others = spreadOf(micros.map((each, index) => 1 - alone[index]! / each))
    const [least, median, most] = [others.min, others.median, others.max].map(percent)
    const ofOthers = company === 'alone' ? '' : `: ${median} for what is beside (${least} to ${most})`
    rows.push({
      name: `${company} processor time`,
      value: `${spreadOf(micros).median.toFixed(1)} µs/event${ofOthers}`,
    })
    const done = spreadOf(own.map((turn) => turn.done / turn.stretch.queryable.seconds)).median
    if (company === 'export')
      rows.push({ name: 'export events/s meanwhile', value: Math.round(done).toLocaleString('en-US') })
    if (company === 'queries') rows.push({ name: 'queries answered/s meanwhile', value: done.toFixed(2) })
    return rows
  })
}

/** Judged by processor time, which no other program on the machine takes away, and by neighbours in time. */
export function turnsSlow(turns: readonly Turn[]): string[] {
  if (turns.length === 0) return []
  const microsBeside = (company: Company): number[] =>
    turns.filter((turn) => turn.company === company).map(microsOf)
  const alone = microsBeside('alone')
  return (['export', 'queries'] as const).flatMap((company) => {
    const taken = spreadOf(microsBeside(company).map((each, index) => 1 - alone[index]! / each)).median
    if (taken <= slowdownMax) return []
    const what = company === 'export' ? 'exports take' : 'queries take'
    return [`${what} ${percent(taken)} of ingestion's processor, at most ${percent(slowdownMax)} expected`]
  })
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
