// What does an exported event cost, and how much do exports and people's queries slow ingestion?
//
// A server is loaded with events and exports all of them as Parquet into an S3 server beside it. Then ingestion takes
// turns: alone, with an export that begins again whenever it has ended, and with people who ask one heavy query after
// the other. The server, with its Postgres, has one core, so whatever runs beside ingestion takes something from it.
// In the end DuckDB reads the files back: every event that was stored must be in them exactly once.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { formatBytes } from '../src/lib/bytes.ts'
import { createCorpus } from './corpus.ts'
import { cpuSeconds } from './cpu.ts'
import { brokenArrived, judgeArrived } from './export-arrived.ts'
import { besideTurns, describeTurns, type Turn, turnsSlow } from './export-beside.ts'
import { ExportRuns, exportSettings, type RunReport } from './export-runs.ts'
import { IngestSide } from './ingest-side.ts'
import { LoadProcess } from './load-process.ts'
import { brokenLoad } from './load-verdict.ts'
import { parseCores } from './pinned.ts'
import { type Context, integerOption, type Outcome, type ResultRow, type Scenario } from './scenario.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

const workload = 'w3'

interface WholeRun extends RunReport {
  readonly cpuServer: number
  readonly cpuPostgres: number
  readonly peakRssBytes: number
  /** Before it, at rest after the load. */
  readonly restRssBytes: number
}

export const exports: Scenario = {
  question: "what does an exported event cost, and how much do exports and people's queries slow ingestion?",
  options: {
    events: { fallback: '1000000', meaning: 'that are exported' },
    turns: { fallback: '3', meaning: 'of ingestion alone and beside each of the others; 0: none' },
    requests: { fallback: '300', meaning: 'of a turn, of 1000 events each: half a minute of a busy machine' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async (context) => {
    const { options, folder, say } = context
    const cores = parseCores(options.cores ?? '')
    const seed = integerOption(options, 'seed')
    const generator = new LoadProcess({ workload, seed, projectApiKey }, cores.generator)
    mkdirSync(join(folder, 'side'))
    const side = new IngestSide({
      folder: join(folder, 'side'),
      corpus: createCorpus(seed, projectApiKey),
      workload: workloadNamed(workload),
      cores,
      checkout: null,
      settings: exportSettings,
    })
    let runs: ExportRuns | null = null
    try {
      await side.accepting()
      runs = await ExportRuns.open(side.server)
      await load(context, side, generator)
      const whole = await exportWhole(side, runs)
      say(`exported: ${describeRun(whole)}`)
      const turns = await besideTurns({ ...context, side, runs, generator })
      return await judge(context, side, runs, whole, turns)
    } finally {
      await runs?.close()
      await side.close()
      await generator.close()
    }
  },
}

/** Fills the server; the requests are packed while they are sent, since memory may not hold them. */
async function load({ options, say }: Context, side: IngestSide, generator: LoadProcess): Promise<void> {
  const { eventCount, connections } = workloadNamed(workload)
  const all = Math.ceil(integerOption(options, 'events') / eventCount)
  const step = Math.max(1, Math.ceil(all / 10))
  for (let sent = 0; sent < all; sent += step) {
    const count = Math.min(step, all - sent)
    const { acked, queryable } = await side.stretch(generator, {
      count,
      connections,
      requestsPerSecond: null,
    })
    const seconds = [acked, queryable].map((one) => one.seconds.toFixed(1)).join(' s acked, ')
    say(
      `loaded ${(sent + count) * eventCount} events: the last ${count * eventCount} in ${seconds} s queryable`,
    )
  }
}

async function exportWhole({ server }: IngestSide, runs: ExportRuns): Promise<WholeRun> {
  server.forgetPeakRss()
  const restRssBytes = server.peakRssBytes()
  const before = cpuSeconds(server)
  const report = await runs.exportAll()
  const after = cpuSeconds(server)
  return {
    ...report,
    cpuServer: after.server - before.server,
    cpuPostgres: after.postgres - before.postgres,
    peakRssBytes: server.peakRssBytes(),
    restRssBytes,
  }
}

function describeRun({ records, seconds, cpuServer, cpuPostgres }: WholeRun): string {
  const micros = [cpuServer, cpuPostgres].map((one) => ((one * 1e6) / records).toFixed(2)).join(' + ')
  return `${Math.round(records / seconds).toLocaleString('en-US')} events/s, ${micros} µs of processor an event`
}

async function judge(
  { folder, say }: Context,
  side: IngestSide,
  runs: ExportRuns,
  whole: WholeRun,
  turns: readonly Turn[],
): Promise<Outcome> {
  const { verdict } = await side.end()
  say('the server has ended; its store and the files are compared')
  const place = { dataDir: side.server.dataDir, folder }
  const arrived = await judgeArrived(place, runs.s3, whole)
  const broken = [...brokenLoad(verdict), ...brokenArrived(arrived)]
  if (whole.status !== 'Completed') broken.push(`the run is ${whole.status}: ${whole.latestError}`)
  if (whole.records !== arrived.expected) broken.push(`the run counted ${whole.records} records`)
  const rows: ResultRow[] = [
    { name: 'exported', value: `${whole.records} events in ${whole.seconds.toFixed(1)} s` },
    { name: 'speed', value: describeRun(whole) },
    {
      name: 'files',
      value: `${formatBytes(whole.bytes)}, ${(whole.bytes / whole.records).toFixed(0)} bytes/event`,
    },
    {
      name: 'peak RSS',
      value: `${formatBytes(whole.peakRssBytes)}, at rest before ${formatBytes(whole.restRssBytes)}`,
    },
    { name: 'verified', value: `${arrived.expected} events once, contents of all` },
    ...describeTurns(turns),
  ]
  return { rows, broken, slow: turnsSlow(turns) }
}
