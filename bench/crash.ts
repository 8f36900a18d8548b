// Is an acknowledged event ever lost or stored twice when the server is killed?
//
// Every cycle starts a server on the same data folder and kills it with SIGKILL: under load, or before it accepts
// anything, which is in the middle of the recovery from the kill before. Sometimes its Postgres is killed too;
// otherwise it is left behind without its server, as in a real crash. Every few cycles, and at the end, the server
// recovers, applies its backlog, stops, and its store is judged.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatBytes } from '../src/lib/bytes.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, describeTimes, integerOption, type Outcome, type Scenario } from './scenario.ts'
import { killPostgres } from './server-process.ts'
import { Subject } from './subject.ts'
import { brokenPromises, describeVerdict, type Verdict } from './verdict.ts'

/** A server SDK gives up after three attempts, about ten seconds in all. */
const acceptMsMax = 3000

const startKillShare = 0.3
/** A start takes about a second: kills fall before, in and after the recovery. */
const startKillMsMax = 1500
const postgresKillShare = 0.25
const loadMsMin = 100
const loadMsMax = 1500

export const crash: Scenario = {
  question: 'is an acknowledged event ever lost or stored twice when the server is killed?',
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

class CrashRun {
  readonly #context: Context
  readonly #random: Random
  readonly #subject: Subject
  readonly #kills = { underLoad: 0, duringStart: 0, withPostgres: 0 }
  #peakRssBytes = 0

  constructor(context: Context) {
    const seed = integerOption(context.options, 'seed')
    this.#context = context
    this.#random = createRandom(seed, 1)
    this.#subject = new Subject(context.folder, join(context.folder, 'data'), seed)
  }

  async run(): Promise<Outcome> {
    const cycles = integerOption(this.#context.options, 'cycles')
    const judgeEvery = integerOption(this.#context.options, 'judge-every')
    await this.#subject.server.accepting()
    await this.#subject.server.stop()
    for (let cycle = 1; ; cycle++) {
      await this.#startAndKill()
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

  async #startAndKill(): Promise<void> {
    const subject = this.#subject
    if (this.#random.next() < startKillShare) {
      subject.launch()
      await delay(this.#random.between(0, startKillMsMax))
      await subject.server.kill()
      this.#kills.duringStart++
    } else {
      await subject.start()
      subject.beginLoad()
      await delay(this.#random.between(loadMsMin, loadMsMax))
      this.#peakRssBytes = Math.max(this.#peakRssBytes, subject.server.peakRssBytes())
      await subject.server.kill()
      await subject.endLoad()
      this.#kills.underLoad++
    }
    // A start that was killed early had no Postgres yet.
    if (this.#random.next() < postgresKillShare && (await killPostgres(subject.dataDir)) > 0)
      this.#kills.withPostgres++
  }

  #outcome(verdict: Verdict, broken: string[]): Outcome {
    const { underLoad, duringStart, withPostgres } = this.#kills
    const { acceptMs } = this.#subject
    const slowestMs = Math.max(...acceptMs)
    const slow =
      slowestMs > acceptMsMax
        ? [`a restart took ${slowestMs.toFixed(0)} ms, at most ${acceptMsMax} expected`]
        : []
    return {
      rows: [
        { name: 'kills', value: `${underLoad} under load, ${duringStart} during a start` },
        { name: 'Postgres killed as well', value: String(withPostgres) },
        ...describeVerdict(verdict),
        { name: 'restart to accepting', value: describeTimes(acceptMs) },
        { name: 'peak RSS under load', value: formatBytes(this.#peakRssBytes) },
      ],
      broken: [...broken, ...slow],
    }
  }
}
