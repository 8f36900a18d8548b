// Does every acknowledged event arrive exactly once where it is exported to, when the server is killed while it
// exports?
//
// Every round exports what is stored so far to S3 and to Postgres, under load, and kills the server four times
// meanwhile: at random, and at each point that exports have in the server's code (src/kill-point.ts). Then the runs
// must complete. The last round begins when the load has ended and everything sent has an answer. In the end every
// file and every table is compared with the store, row by row, and the store with what was acknowledged: so nothing
// that was acknowledged is missing or doubled at a destination.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exportsKillPoints } from '../src/kill-point.ts'
import { brokenArrived, countBehind } from './export-arrived.ts'
import { exportSettings } from './export-runs.ts'
import { ExportTargets, type RoundRun } from './export-targets.ts'
import { OwnPostgres } from './own-postgres.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, integerOption, type Outcome, type Scenario } from './scenario.ts'
import { sentinelEvent, waitUntilApplied } from './sentinel.ts'
import { Subject } from './subject.ts'
import { brokenPromises, describeVerdict, type Verdict } from './verdict.ts'
import { waitFor } from './wait.ts'

const loadMsMin = 200
const loadMsMax = 1_500
/** A server that starts finds its runs within seconds. */
const pointMsMax = 60_000
const completeMsMax = 600_000
/** Asking takes a little of the Postgres that the server uses. */
const pollMs = 100

export const exportCrash: Scenario = {
  question:
    'does every acknowledged event arrive exactly once where it is exported to, when the server is killed?',
  options: {
    rounds: { fallback: '6', meaning: 'exports to S3 and Postgres, each killed four times' },
    seed: { fallback: '1', meaning: 'of the load and of the moments of kills' },
  },
  run: async (context) => {
    const postgres = await OwnPostgres.start(join(context.folder, 'postgres'))
    const run = await ExportCrashRun.open(context, postgres)
    try {
      return await run.run()
    } finally {
      await run.close()
      await postgres.kill()
    }
  },
}

class ExportCrashRun {
  readonly #context: Context
  readonly #random: Random
  readonly #subject: Subject
  readonly #targets: ExportTargets
  readonly #reached = new Map<string, number>()
  #killCount = 0

  static async open(context: Context, { databaseUrl }: OwnPostgres): Promise<ExportCrashRun> {
    return new ExportCrashRun(context, databaseUrl, await ExportTargets.open(databaseUrl))
  }

  private constructor(context: Context, databaseUrl: string, targets: ExportTargets) {
    const seed = integerOption(context.options, 'seed')
    this.#context = context
    this.#random = createRandom(seed, 3)
    this.#targets = targets
    this.#subject = new Subject(context.folder, join(context.folder, 'data'), seed, {
      ...exportSettings,
      DATABASE_URL: databaseUrl,
    })
  }

  async run(): Promise<Outcome> {
    const subject = this.#subject
    const rounds = integerOption(this.#context.options, 'rounds')
    await subject.server.accepting()
    for (let round = 1; round <= rounds; round++) {
      const isLast = round === rounds
      subject.beginLoad()
      await delay(this.#random.between(loadMsMin, loadMsMax))
      if (isLast) {
        await subject.endLoad()
        await subject.oracle.resend(subject.server.port)
        await waitUntilApplied(subject.server)
      }
      await this.#targets.begin(subject.server, `round_${round}`)
      await delay(this.#random.between(0, loadMsMax))
      await this.#kill(isLast)
      for (const point of exportsKillPoints) await this.#killAt(point, isLast)
      await this.#complete(`round_${round}`, isLast)
      this.#context.say(`${round} of ${rounds} rounds: ${this.#killCount} kills`)
    }
    return this.#outcome(await subject.judge(true))
  }

  async close(): Promise<void> {
    await this.#subject.close()
    await this.#targets.close()
  }

  async #kill(isQuiet: boolean): Promise<void> {
    await this.#subject.server.kill()
    if (!isQuiet) await this.#subject.endLoad()
    this.#killCount++
  }

  /** Starts a server that ends at the point, and loads it until then. */
  async #killAt(point: string, isQuiet: boolean): Promise<void> {
    const subject = this.#subject
    subject.launch({ CRASH_AT: point })
    const { server } = subject
    const isAccepting = await server.accepting().then(
      () => true,
      (error) => {
        if (server.isRunning) throw error
        return false
      },
    )
    if (isAccepting && !isQuiet) subject.beginLoad()
    await Promise.race([server.ended, delay(pointMsMax)])
    if (isAccepting && !isQuiet) await subject.endLoad()
    const { signal } = await server.terminate()
    if (signal !== 'SIGKILL') return
    this.#reached.set(point, (this.#reached.get(point) ?? 0) + 1)
    this.#killCount++
  }

  /** Leaves a server that runs and loads nothing. */
  async #complete(round: string, isQuiet: boolean): Promise<void> {
    const subject = this.#subject
    await subject.start()
    if (!isQuiet) subject.beginLoad()
    await waitFor(
      `the runs of ${round}`,
      completeMsMax,
      async () => {
        const runs = await this.#targets.runs(round)
        return runs.every(({ finished_at }) => finished_at !== null) ? true : null
      },
      pollMs,
    )
    if (!isQuiet) await subject.endLoad()
  }

  async #outcome(verdict: Verdict): Promise<Outcome> {
    const broken = brokenPromises(verdict)
    const runs = await this.#targets.runs()
    const place = { dataDir: this.#subject.dataDir, folder: join(this.#context.folder, 'arrived') }
    mkdirSync(place.folder)
    for (const run of runs) broken.push(...(await this.#judge(place, run)))
    const last = runs.at(-1)
    const left = last === undefined ? 0 : await countBehind(place.dataDir, last.stretch_end, sentinelEvent)
    if (left > 0) broken.push(`the last round was to take ${left} events more`)
    const reached = exportsKillPoints.map((point) => `${this.#reached.get(point) ?? 0} ${point}`)
    const records = runs.reduce((sum, run) => sum + (run.records_completed ?? 0), 0)
    const chunks = runs.reduce((sum, run) => sum + run.chunks, 0)
    return {
      rows: [
        { name: 'kills', value: `${this.#killCount}: ${reached.join(', ')}, the rest at random` },
        { name: 'exported', value: `${records} events in ${runs.length} runs, ${chunks} chunks` },
        { name: 'the last to each destination', value: `${last?.records_completed} events` },
        ...describeVerdict(verdict),
      ],
      broken,
      slow: [],
    }
  }

  async #judge(
    place: { readonly dataDir: string; readonly folder: string },
    run: RoundRun,
  ): Promise<string[]> {
    const arrived = await this.#targets.judge(place, run)
    const broken = brokenArrived(arrived)
    if (run.status !== 'Completed') broken.push(`the run is ${run.status}: ${run.latest_error}`)
    if (run.records_completed !== arrived.expected)
      broken.push(`the run counted ${run.records_completed} records of ${arrived.expected}`)
    return broken.map((line) => `${run.name} to ${run.type}: ${line}`)
  }
}
