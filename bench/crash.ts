// Is an acknowledged event ever lost or stored twice when the server is killed, and are persons what the events say?
//
// Every cycle starts a server on the same data folder and kills it. Three kills of five come at a named point in the
// server's own code (src/kill-point.ts), one after the other; the rest come at random: under load, or before the server
// accepts anything, which is in the middle of the recovery from the kill before. Sometimes its Postgres is killed too;
// otherwise it is left behind without its server, as in a real crash. The journal keeps nothing that both stores have,
// so that a segment deleted too early would be missed. Every few cycles, and at the end, the server recovers, applies
// its backlog, stops, and its stores are judged.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  eventsKillPoints,
  journalKillPoints,
  mirrorKillPoints,
  personsKillPoints,
} from '../src/kill-point.ts'
import { formatBytes } from '../src/lib/bytes.ts'
import { mixedLoad } from './oracle.ts'
import type { Load } from './oracle-client.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, describeTimes, integerOption, type Outcome, type Scenario } from './scenario.ts'
import { killEmbeddedPostgres } from './server-process.ts'
import { Subject } from './subject.ts'
import { brokenPromises, describeVerdict, type Verdict } from './verdict.ts'

/** A server SDK gives up after three attempts, about ten seconds in all. */
const acceptMsMax = 3000

/** Reached once Postgres is there. */
const latePoints: readonly string[] = [...personsKillPoints, ...mirrorKillPoints]
const killPoints = [...journalKillPoints, ...eventsKillPoints, ...latePoints]

const startKillShare = 0.3
/** A start takes about a second: kills fall before, in and after the recovery. */
const startKillMsMax = 1500
const postgresKillShare = 0.25
const loadMsMin = 100
const loadMsMax = 1500

/** Enough for the events store to find a checkpoint worth while: after that the journal forgets. */
const heavyLoad = { ...mixedLoad, mix: { large: 1 }, countMax: 60 }
const heavyLoadMsMax = 20_000
/** Persons follow once Postgres has recovered, which capture does not wait for. */
const postgresMsMax = 15_000
/** A quiet server makes its checkpoint after five seconds, and waits for persons before it deletes. */
const checkpointMsMax = 45_000

export const crash: Scenario = {
  question:
    'is an acknowledged event ever lost or stored twice when the server is killed, and are persons what events say?',
  options: {
    cycles: { fallback: '100', meaning: 'kills' },
    'judge-every': { fallback: '25', meaning: 'cycles from one judgement of the store to the next' },
    seed: { fallback: '1', meaning: 'of the load, the moments and the kinds of kills' },
  },
  run: async (context) => {
    const run = new CrashRun(context)
    try {
      return await run.run()
    } finally {
      await run.close()
    }
  },
}

/** The point of kill number `cycle`, from 1 on; null for one at random. */
function namedPoint(cycle: number): string | null {
  const place = ((cycle - 1) % 5) - 2
  return place < 0 ? null : killPoints[(Math.floor((cycle - 1) / 5) * 3 + place) % killPoints.length]!
}

class CrashRun {
  readonly #context: Context
  readonly #random: Random
  readonly #subject: Subject
  readonly #kills = { underLoad: 0, duringStart: 0, atPoint: 0, withPostgres: 0 }
  readonly #pointsReached = new Set<string>()
  #peakRssBytes = 0

  constructor(context: Context) {
    const seed = integerOption(context.options, 'seed')
    this.#context = context
    this.#random = createRandom(seed, 1)
    this.#subject = new Subject(context.folder, join(context.folder, 'data'), seed, {
      JOURNAL_KEEP_BYTES: '0',
    })
  }

  async run(): Promise<Outcome> {
    const cycles = integerOption(this.#context.options, 'cycles')
    const judgeEvery = integerOption(this.#context.options, 'judge-every')
    await this.#subject.server.accepting()
    await this.#subject.server.stop()
    for (let cycle = 1; ; cycle++) {
      await this.#startAndKill(cycle)
      const isLast = cycle === cycles
      if (!isLast && cycle % judgeEvery !== 0) continue
      await this.#subject.start()
      const verdict = await this.#subject.judge(isLast)
      const broken = brokenPromises(verdict)
      this.#context.say(`${cycle} of ${cycles} kills: ${broken[0] ?? 'every event is where it belongs'}`)
      if (isLast || broken.length > 0) return this.#outcome(verdict, broken)
    }
  }

  async close(): Promise<void> {
    await this.#subject.close()
  }

  async #startAndKill(cycle: number): Promise<void> {
    const point = namedPoint(cycle)
    if (point !== null) await this.#killAtPoint(point)
    else if (this.#random.next() < startKillShare) await this.#killDuringStart()
    else await this.#killUnderLoad(this.#random.between(loadMsMin, loadMsMax))
    // A start that was killed early had no Postgres yet.
    if (this.#random.next() < postgresKillShare && (await killEmbeddedPostgres(this.#subject.dataDir)) > 0)
      this.#kills.withPostgres++
  }

  async #killDuringStart(): Promise<void> {
    this.#subject.launch()
    await delay(this.#random.between(0, startKillMsMax))
    await this.#subject.server.kill()
    this.#kills.duringStart++
  }

  async #killUnderLoad(loadMs: number): Promise<void> {
    const subject = this.#subject
    await subject.start()
    subject.beginLoad()
    await delay(loadMs)
    this.#peakRssBytes = Math.max(this.#peakRssBytes, subject.server.peakRssBytes())
    await subject.server.kill()
    await subject.endLoad()
    this.#kills.underLoad++
  }

  /** Some points are reached during the start, some under load, some when the server stops. */
  async #killAtPoint(point: string): Promise<void> {
    const subject = this.#subject
    // There must be something to recover.
    if (point === 'during_recovery') await this.#killUnderLoad(loadMsMax)
    subject.launch({ CRASH_AT: point })
    const { server } = subject
    const isAccepting = await server.accepting().then(
      () => true,
      (error) => {
        if (server.isRunning) throw error
        return false
      },
    )
    if (isAccepting && point === 'retention_unlink') {
      await this.#loadUntilEnded(heavyLoad, heavyLoadMsMax)
      await Promise.race([server.ended, delay(checkpointMsMax)])
    } else if (isAccepting) {
      await this.#loadUntilEnded(mixedLoad, loadMsMax)
      if (latePoints.includes(point)) await Promise.race([server.ended, delay(postgresMsMax)])
    }
    const { code, signal } = await server.terminate()
    if (signal === 'SIGKILL') {
      this.#pointsReached.add(point)
      this.#kills.atPoint++
    } else if (code !== 0) {
      throw server.failure(`the server that was to be killed at ${point} ended otherwise`)
    }
  }

  /** Loads the server for `limitMs`, or until it or the load has ended. */
  async #loadUntilEnded(load: Omit<Load, 'port'>, limitMs: number): Promise<void> {
    const { oracle, server } = this.#subject
    oracle.begin({ ...load, port: server.port })
    await Promise.race([server.ended, oracle.finished(), delay(limitMs)])
    await oracle.stop()
  }

  #outcome(verdict: Verdict, broken: string[]): Outcome {
    const { underLoad, duringStart, atPoint, withPostgres } = this.#kills
    const { acceptMs } = this.#subject
    const slowestMs = Math.max(...acceptMs)
    const slow =
      slowestMs > acceptMsMax
        ? [`a restart took ${slowestMs.toFixed(0)} ms, at most ${acceptMsMax} expected`]
        : []
    const missed = killPoints.filter((point) => !this.#pointsReached.has(point))
    return {
      rows: [
        {
          name: 'kills',
          value: `${underLoad} under load, ${duringStart} during a start, ${atPoint} at a named point`,
        },
        { name: 'named points not reached', value: missed.join(', ') || 'none' },
        { name: 'Postgres killed as well', value: String(withPostgres) },
        ...describeVerdict(verdict),
        { name: 'restart to accepting', value: describeTimes(acceptMs) },
        { name: 'peak RSS under load', value: formatBytes(this.#peakRssBytes) },
      ],
      broken,
      slow,
    }
  }
}
