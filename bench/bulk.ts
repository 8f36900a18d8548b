// Do bulk imports hold up the events that arrive meanwhile?
//
// One client sends single events at a steady rate; another sends bodies as large as the limits allow, one after the
// other, as a migration script would. The latencies of the single events are compared before, while a bulk body is
// being accepted, and while its events are being loaded. In the end every event must be in the store, once.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatBytes } from '../src/lib/bytes.ts'
import { shapes } from './capture-request.ts'
import { machineMs } from './clock.ts'
import { Oracle, verify } from './oracle.ts'
import type { SentRequest } from './oracle-journal.ts'
import {
  type Context,
  describeTimes,
  integerOption,
  type Outcome,
  quantile,
  type Scenario,
} from './scenario.ts'
import { lagBytes, waitUntilApplied } from './sentinel.ts'
import { type LoopDelays, loopDelays } from './server-metrics.ts'
import { killEmbeddedPostgres, projectApiKey, ServerProcess } from './server-process.ts'
import { brokenPromises, describeVerdict } from './verdict.ts'
import { waitFor } from './wait.ts'

const singlesPerSecond = 100
const quietMs = 3000
/** What single events of half a second take of the journal, with room. */
const loadedLagBytes = 128 * 1024
const loadMsMax = 120_000

const bodyShapes = ['bulk', 'smallBulk'] as const

export const bulk: Scenario = {
  question: 'do bulk imports hold up the events that arrive meanwhile?',
  options: {
    bodies: { fallback: '3', meaning: 'how many' },
    shape: { fallback: 'bulk', meaning: describeShapes() },
    'single-ms-max': { fallback: '100', meaning: 'p99 of the single events that counts as slow (ms)' },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async (context) => {
    const seed = integerOption(context.options, 'seed')
    const dataDir = join(context.folder, 'data')
    const server = new ServerProcess({ dataDir, logPath: join(context.folder, 'server.log') })
    const singles = new Oracle(context.folder, { client: 0, seed, projectApiKey })
    const importer = new Oracle(context.folder, { client: 1, seed, projectApiKey })
    try {
      return await importUnderLoad(context, server, singles, importer)
    } finally {
      await server.kill()
      await killEmbeddedPostgres(dataDir)
      await Promise.all([singles.close(), importer.close()])
    }
  },
}

function describeShapes(): string {
  return bodyShapes.map((name) => `${name}: ${shapes[name].eventCount} events a body`).join(', ')
}

const load = { repeatShare: 0, resendShare: 0, countMax: Number.MAX_SAFE_INTEGER, connections: 64 }

async function importUnderLoad(
  { options, say }: Context,
  server: ServerProcess,
  singles: Oracle,
  importer: Oracle,
): Promise<Outcome> {
  const shape = bodyShapes.find((name) => name === options.shape)
  if (shape === undefined)
    throw new Error(`--shape is ${options.shape}, expected one of ${bodyShapes.join(', ')}`)
  const singleMsMax = integerOption(options, 'single-ms-max')
  await server.accepting()
  const { port } = server
  const delays = { looks: 0, late: 0, held: 0 }
  const appliedMs: number[] = []
  const sentinels: string[] = []
  for (let body = 0; body < integerOption(options, 'bodies'); body++) {
    // The body is built while nothing is measured: it takes a core for some seconds.
    await importer.prepare(shape)
    const before = await loopDelays(server)
    singles.begin({ ...load, port, mix: { single: 1 }, requestsPerSecond: singlesPerSecond })
    await delay(quietMs)
    importer.begin({ ...load, port, mix: { [shape]: 1 }, requestsPerSecond: 1, countMax: 1 })
    await importer.finished()
    say(`body ${body + 1} is answered`)
    // Of the single events some always wait while they go on coming.
    await waitFor('the body has been loaded', loadMsMax, async () =>
      (await lagBytes(server, 'events')) <= loadedLagBytes ? true : null,
    )
    appliedMs.push(machineMs())
    await singles.stop()
    const after = await loopDelays(server)
    delays.looks += after.looks - before.looks
    delays.late += after.late - before.late
    delays.held += after.held - before.held
    sentinels.push(...(await waitUntilApplied(server)))
  }
  const peakRssBytes = server.peakRssBytes()
  const { dataDir, projectId } = server
  await server.stop()
  const verdict = await verify([singles, importer], { dataDir, projectId, sentinels, facts: null })
  const bodies = importer.requests()
  const phases = splitByPhase(singles.requests(), bodies, appliedMs)
  return {
    rows: [
      { name: 'answers to bulk bodies', value: bodies.map(describeAnswer).join(', ') },
      { name: 'singles, server quiet', value: describeTimes(phases.quiet) },
      { name: 'singles, body being accepted', value: describeTimes(phases.accepting) },
      { name: 'singles that overtook a body', value: String(phases.overtaking) },
      { name: 'singles, events being loaded', value: describeTimes(phases.loading) },
      { name: 'main thread late by over 10 ms', value: describeDelays(delays) },
      { name: 'peak RSS', value: formatBytes(peakRssBytes) },
      ...describeVerdict(verdict),
    ],
    broken: [...brokenPromises(verdict), ...refusedBodies(bodies)],
    slow: slowSingles(phases.accepting, singleMsMax),
  }
}

/** Latencies of the single events (ms), by what the server was doing when they were sent; how many overtook a body. */
function splitByPhase(singles: SentRequest[], bodies: SentRequest[], appliedMs: number[]) {
  const phases = { quiet: [] as number[], accepting: [] as number[], loading: [] as number[], overtaking: 0 }
  const spans = bodies.map(({ attempts }, index) => ({
    sentMs: attempts[0]!.sentMs,
    endMs: attempts[0]!.endMs!,
    appliedMs: appliedMs[index]!,
  }))
  for (const { attempts } of singles) {
    const { sentMs, endMs } = attempts[0]!
    const latencyMs = (endMs ?? Number.POSITIVE_INFINITY) - sentMs
    const span = spans.find((one) => sentMs >= one.sentMs && sentMs < one.appliedMs)
    if (span === undefined) phases.quiet.push(latencyMs)
    else if (sentMs < span.endMs) {
      phases.accepting.push(latencyMs)
      if (sentMs + latencyMs < span.endMs) phases.overtaking++
    } else phases.loading.push(latencyMs)
  }
  return phases
}

function describeDelays({ looks, late, held }: LoopDelays): string {
  return `${late} of ${looks} looks, ${held} without what it waited for a processor`
}

function describeAnswer({ attempts }: SentRequest): string {
  const { sentMs, status, endMs } = attempts[0]!
  return `${status} after ${((endMs! - sentMs) / 1000).toFixed(1)} s`
}

function refusedBodies(bodies: SentRequest[]): string[] {
  return bodies
    .filter(({ attempts }) => attempts[0]!.status !== 200)
    .map(({ attempts }) => `a bulk body was answered ${attempts[0]!.status}`)
}

function slowSingles(latenciesMs: number[], singleMsMax: number): string[] {
  const p99Ms = quantile(latenciesMs, 0.99)
  return p99Ms > singleMsMax
    ? [`single events took ${p99Ms.toFixed(0)} ms (p99) beside a bulk body, at most ${singleMsMax} expected`]
    : []
}
