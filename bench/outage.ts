// What happens while Postgres is away?
//
// Under a steady load Postgres hangs (its processes are stopped, its connections stay open), then it is killed and
// stays away, each for half of the time, and then it is started again. Capture must answer 200 all the while, and
// events must reach the events store as soon as ever. Persons must catch up by themselves, under load, and must be
// what the events say in the end.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatBytes } from '../src/lib/bytes.ts'
import { machineMs } from './clock.ts'
import { type Freshness, readFreshness } from './freshness.ts'
import type { Load } from './oracle-client.ts'
import type { SentRequest } from './oracle-journal.ts'
import { OwnPostgres } from './own-postgres.ts'
import {
  type Context,
  describeTimes,
  integerOption,
  numberOption,
  type Outcome,
  type ResultRow,
  type Scenario,
} from './scenario.ts'
import { lagBytes } from './sentinel.ts'
import { Subject } from './subject.ts'
import { brokenPromises, describeVerdict } from './verdict.ts'
import { waitFor } from './wait.ts'

/** Before the outage, and behind it when persons have caught up. */
const quietMsMax = 20_000
/** With less waiting, persons pause between steps: they are up to date. */
const caughtUpBytes = 4 * 1024 * 1024
/** Persons try again within seconds; the rest is for a machine that has other things to do. */
const catchUpMsMin = 120_000
/** A Postgres that hangs looks busy at first. */
const noticeMsMax = 12_000
/** p95 of the events, in every phase. */
const freshMsMax = 5000

const phaseNames = ['before', 'Postgres hangs', 'Postgres is gone', 'persons catch up', 'after'] as const

interface Phase {
  readonly name: (typeof phaseNames)[number]
  readonly fromMs: number
  readonly toMs: number
}

export const outage: Scenario = {
  question: 'what happens while Postgres is away?',
  options: {
    minutes: { fallback: '10', meaning: 'that Postgres is away' },
    rate: { fallback: '50', meaning: 'requests a second' },
    seed: { fallback: '1', meaning: 'of the load' },
  },
  run: async (context) => {
    const postgres = await OwnPostgres.start(join(context.folder, 'postgres'))
    const seed = integerOption(context.options, 'seed')
    const settings = { DATABASE_URL: postgres.databaseUrl }
    const subject = new Subject(context.folder, join(context.folder, 'data'), seed, settings)
    try {
      return await stayAway(context, subject, postgres)
    } finally {
      await subject.close()
      await postgres.kill()
    }
  },
}

async function stayAway(
  { options, say }: Context,
  subject: Subject,
  postgres: OwnPostgres,
): Promise<Outcome> {
  const outageMs = numberOption(options, 'minutes') * 60_000
  const { oracle, server } = subject
  await server.accepting()
  const phases: Phase[] = []
  let startedMs = machineMs()
  const end = (name: Phase['name']): Phase => {
    const phase = { name, fromMs: startedMs, toMs: machineMs() }
    startedMs = phase.toMs
    phases.push(phase)
    say(`${name}: ${((phase.toMs - phase.fromMs) / 1000).toFixed(1)} s`)
    return phase
  }
  oracle.begin({ ...steadyLoad, requestsPerSecond: integerOption(options, 'rate'), port: server.port })
  await delay(Math.min(quietMsMax, outageMs / 2))
  end('before')
  postgres.freeze()
  await delay(outageMs / 2)
  const readiness: Readiness[] = []
  if (outageMs / 2 > noticeMsMax) readiness.push(await readReadiness(server.port))
  end('Postgres hangs')
  await postgres.kill()
  await delay(outageMs / 2)
  readiness.push(await readReadiness(server.port))
  const lagMax = await lagBytes(server, 'persons')
  await postgres.startAgain()
  end('Postgres is gone')
  await waitFor('persons catch up', outageMs + catchUpMsMin, async () =>
    (await lagBytes(server, 'persons')) <= caughtUpBytes ? true : null,
  )
  const catchUp = end('persons catch up')
  await delay(Math.min(quietMsMax, outageMs / 2))
  const peakRssBytes = server.peakRssBytes()
  await oracle.stop()
  end('after')
  const verdict = await subject.judge(false)
  const capture = describeCapture(oracle.requests(), phases)
  const freshness = await describeFreshness(subject.dataDir, phases)
  return {
    rows: [
      ...capture.rows,
      ...freshness.rows,
      { name: 'lag of the persons when Postgres came back', value: formatBytes(lagMax) },
      { name: 'persons caught up after', value: `${((catchUp.toMs - catchUp.fromMs) / 1000).toFixed(1)} s` },
      { name: 'peak RSS', value: formatBytes(peakRssBytes) },
      ...describeVerdict(verdict),
    ],
    broken: [...capture.broken, ...brokenReadiness(readiness), ...brokenPromises(verdict)],
    slow: freshness.slow,
  }
}

const steadyLoad: Omit<Load, 'port' | 'requestsPerSecond'> = {
  connections: 16,
  mix: { single: 70, batch: 27, historical: 3 },
  countMax: Number.MAX_SAFE_INTEGER,
  repeatShare: 0.05,
  resendShare: 0,
}

interface Readiness {
  readonly status: number
  readonly body: string
}

async function readReadiness(port: number): Promise<Readiness> {
  const response = await fetch(`http://127.0.0.1:${port}/_readyz`)
  return { status: response.status, body: await response.text() }
}

/** While Postgres is away the server is ready, and says what is wrong. */
function brokenReadiness(readiness: readonly Readiness[]): string[] {
  return readiness
    .filter(({ status, body }) => status !== 200 || !/"degraded".*"(persons|postgres)"/.test(body))
    .map(({ status, body }) => `without Postgres, readiness was ${status} ${body}`)
}

/** How long answers took (ms), and whether all were 200. */
function describeCapture(
  requests: readonly SentRequest[],
  phases: readonly Phase[],
): { rows: ResultRow[]; broken: string[] } {
  const attempts = requests.flatMap((request) => request.attempts)
  const broken: string[] = []
  const rows = phases.map(({ name, fromMs, toMs }) => {
    const here = attempts.filter(({ sentMs }) => sentMs >= fromMs && sentMs < toMs)
    const refused = here.filter(({ status }) => status !== 200)
    if (refused.length > 0)
      broken.push(`${refused.length} of ${here.length} requests were not answered 200 (${name})`)
    const times = here.map(({ sentMs, endMs }) => (endMs ?? Number.POSITIVE_INFINITY) - sentMs)
    return { name: `answers: ${name}`, value: describeTimes(times) }
  })
  return { rows, broken }
}

async function describeFreshness(
  dataDir: string,
  phases: readonly Phase[],
): Promise<{ rows: ResultRow[]; slow: string[] }> {
  const rows: ResultRow[] = []
  const slow: string[] = []
  for (const phase of phases) {
    const freshness: Freshness | null = await readFreshness(dataDir, phase)
    if (freshness === null) continue
    const { p50Ms, p95Ms, maxMs } = freshness
    rows.push({
      name: `events readable: ${phase.name}`,
      value: `p50 ${p50Ms.toFixed(0)}, p95 ${p95Ms.toFixed(0)}, max ${maxMs.toFixed(0)} ms`,
    })
    if (p95Ms > freshMsMax)
      slow.push(
        `events could be read after ${p95Ms.toFixed(0)} ms (p95, ${phase.name}), at most ${freshMsMax} expected`,
      )
  }
  return { rows, slow }
}
