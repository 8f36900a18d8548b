// How near is the server to the limit? The limit is DuckDB loading the same events by itself from a file of NDJSON:
// no HTTP, no inflating, no checks, no journal, no persons. Both take turns on the same core.

import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createCorpus } from './corpus.ts'
import type { DuckdbLoad } from './duckdb-load.ts'
import { type Spread, spreadOf } from './ingest-figures.ts'
import { type IngestPlan, planOf, runIngest, type SideReport } from './ingest-run.ts'
import { writeNdjson } from './ndjson-file.ts'
import { type Cores, parseCores, pinned } from './pinned.ts'
import { integerOption, type Outcome, type Scenario } from './scenario.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

export interface LimitReport {
  readonly server: SideReport
  /** Events for each second of processor time. */
  readonly serverPerCpuSecond: Spread
  readonly duckdbPerCpuSecond: Spread
  /** Of neighbouring samples: what the server loads of what DuckDB loads. */
  readonly ratio: Spread
  readonly duckdbBytesPerEvent: number
  readonly broken: readonly string[]
}

export const limit: Scenario = {
  question: 'how near is the server to DuckDB loading the same events from a file by itself?',
  options: {
    workload: { fallback: 'w3', meaning: 'whose events' },
    samples: { fallback: '5', meaning: 'of each' },
    requests: { fallback: '0', meaning: 'of a sample; 0: what the workload says' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async ({ options, folder, say }) => {
    const plan = planOf(options.workload ?? '', false)
    const report = await runLimit(
      {
        ...plan,
        evenSeconds: 0,
        samples: integerOption(options, 'samples'),
        requests: integerOption(options, 'requests') || plan.requests,
        cores: parseCores(options.cores ?? ''),
      },
      folder,
      say,
    )
    const { ratio, serverPerCpuSecond, duckdbPerCpuSecond } = report
    const diskBytes = [report.server.figures.diskBytesPerEvent, report.duckdbBytesPerEvent]
    return {
      rows: [
        { name: 'events/CPU-s queryable, server', value: describe(serverPerCpuSecond, 0) },
        { name: 'events/CPU-s, DuckDB alone', value: describe(duckdbPerCpuSecond, 0) },
        { name: 'server of DuckDB alone', value: describe(ratio, 3) },
        {
          name: 'bytes/event, server and DuckDB',
          value: diskBytes.map((bytes) => bytes.toFixed(0)).join(', '),
        },
      ],
      broken: report.broken,
      slow: [],
    } satisfies Outcome
  },
}

/** Runs both in turn. */
export async function runLimit(
  plan: IngestPlan,
  folder: string,
  say: (line: string) => void,
): Promise<LimitReport> {
  const workload = workloadNamed(plan.workload)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'events.ndjson')
  writeNdjson(file, createCorpus(plan.seed, projectApiKey), workload, plan.requests)
  const loads: DuckdbLoad[] = []
  const [server] = await runIngest({ ...plan, checkouts: [null] }, folder, say, async () => {
    const load = await loadAlone(file, join(folder, `limit-${loads.length}.duckdb`), plan.cores)
    loads.push(load)
    say(`DuckDB alone: ${Math.round(load.events / load.cpuSeconds)} events/CPU-s`)
  })
  rmSync(file)
  const perCpuSecond = server!.samples.map(({ events, queryable }) => events / queryable.cpuSeconds)
  const alone = loads.map(({ events, cpuSeconds }) => events / cpuSeconds)
  const expected = plan.requests * workload.eventCount
  const isWhole = loads.every((load) => load.events === expected && load.distinctEvents === expected)
  return {
    server: server!,
    serverPerCpuSecond: spreadOf(perCpuSecond),
    duckdbPerCpuSecond: spreadOf(alone),
    ratio: spreadOf(perCpuSecond.map((one, index) => one / alone[index]!)),
    duckdbBytesPerEvent: (loads[0]?.diskBytes ?? 0) / expected,
    broken: [...server!.broken, ...(isWhole ? [] : ['DuckDB alone did not load each event once'])],
  }
}

async function loadAlone(file: string, database: string, cores: Cores): Promise<DuckdbLoad> {
  const script = fileURLToPath(new URL('./duckdb-load.js', import.meta.url))
  const [command, ...args] = pinned(cores.server, [process.execPath, script, file, database])
  const { stdout } = await promisify(execFile)(command!, args)
  rmSync(database, { force: true })
  // The script prints nothing else.
  return JSON.parse(stdout) as DuckdbLoad
}

function describe({ median, min, max }: Spread, digits: number): string {
  const [middle, low, high] = [median, min, max].map((value) => value.toFixed(digits))
  return `${middle} (${low} to ${high})`
}
