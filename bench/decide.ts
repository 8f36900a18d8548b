// What does an answer to /decide cost, by the number of flags?
//
// Known persons ask for 10, 100 and 1000 flags, half of which need stored properties. The server, with its Postgres,
// has one core, and who asks has another. Samples are sent as fast as answers come; then requests come at half that
// rate, each at its moment, and their latency counts from it. Every answer is compared with the plain evaluation of
// test/flags.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openPostgres } from '../src/postgres/pool.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { cpuSeconds } from './cpu.ts'
import { FlagQuestions } from './flag-questions.ts'
import { latencyOf } from './latency.ts'
import { ClosedPacing, OpenPacing, type Pacing } from './pacing.ts'
import { type Cores, coreSeconds, onCore, parseCores } from './pinned.ts'
import { type LoopReport, runLoop } from './request-loop.ts'
import { integerOption, type Outcome, quantile, type ResultRow, type Scenario } from './scenario.ts'
import { ServerProcess } from './server-process.ts'
import { WrongAnswers } from './wrong-answers.ts'

/** So many flags make a request worth ten. */
const manyFlags = 1000
const evenSeconds = 6
const samplesMin = 3

export const decide: Scenario = {
  question: 'what does an answer to /decide cost, and how long does it take at half load?',
  options: {
    requests: { fallback: '12000', meaning: 'of a sample, and to warm up; of 1000 flags a tenth' },
    samples: { fallback: '5', meaning: 'of each number of flags' },
    connections: { fallback: '16', meaning: 'that ask at once' },
    flags: { fallback: '10,100,1000', meaning: 'of a project' },
    persons: { fallback: '200', meaning: 'that ask in turn; 100000: each is read anew' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async ({ options, folder, say }) => {
    const cores = parseCores(options.cores ?? '')
    const dataDir = `${folder}/data`
    const server = new ServerProcess({ dataDir, logPath: `${folder}/server.log`, core: cores.server })
    await server.accepting()
    const postgres = openPostgres({ connectionString: await server.databaseUrl(), log })
    try {
      const outcome: MutableOutcome = { rows: [], broken: [], slow: [] }
      for (const flags of (options.flags ?? '').split(',').map(Number)) {
        const persons = integerOption(options, 'persons')
        const run: Run = {
          server,
          cores,
          questions: await FlagQuestions.define(server, postgres, { persons, flags }),
          count: Math.ceil(integerOption(options, 'requests') / (flags >= manyFlags ? 10 : 1)),
          samples: Math.max(samplesMin, integerOption(options, 'samples')),
          connections: integerOption(options, 'connections'),
        }
        await onCore(cores.generator, () => measure(`${flags} flags`, run, outcome))
        say(`${flags} flags done`)
      }
      return outcome
    } finally {
      await postgres.close()
      await server.stop()
    }
  },
}

interface MutableOutcome extends Outcome {
  readonly rows: ResultRow[]
  readonly broken: string[]
  readonly slow: string[]
}

interface Run {
  readonly server: ServerProcess
  readonly cores: Cores
  readonly questions: FlagQuestions
  /** Of a sample. */
  readonly count: number
  readonly samples: number
  readonly connections: number
}

interface Sample {
  readonly perSecond: number
  readonly serverMicros: number
  readonly postgresMicros: number
}

async function measure(name: string, run: Run, outcome: MutableOutcome): Promise<void> {
  const wrong = new WrongAnswers()
  await ask(run, new ClosedPacing(0, run.count), run.count, wrong)
  const samples: Sample[] = []
  for (let index = 0; index < run.samples; index++) samples.push(await sample(run, index, wrong))
  const median = (of: (one: Sample) => number): number => quantile(samples.map(of), 0.5)
  const perSecond = median((one) => one.perSecond)
  const evenCount = Math.ceil((perSecond / 2) * evenSeconds)
  const pauses = monitorEventLoopDelay({ resolution: 1 })
  pauses.enable()
  const before = cpuSeconds(run.server)
  const { latency, startMs, endMs } = await ask(
    run,
    new OpenPacing(0, evenCount, perSecond / 2),
    evenCount,
    wrong,
  )
  const after = cpuSeconds(run.server)
  pauses.disable()
  const used = after.server - before.server + after.postgres - before.postgres
  const busy = ((used * 1e5) / (endMs - startMs)).toFixed(0)
  const { broken, slow } = wrong.describe(name)
  outcome.broken.push(...broken)
  outcome.slow.push(...slow)
  const took = latencyOf(latency)
  const [p50, p99, max] = [took.p50, took.p99, took.max].map((ms) => ms.toFixed(1))
  const micros = [median((one) => one.serverMicros), median((one) => one.postgresMicros)]
  outcome.rows.push(
    { name: `${name} answers/s`, value: perSecond.toFixed(0) },
    {
      name: `${name} server + Postgres`,
      value: `${micros.map((one) => one.toFixed(0)).join(' + ')} µs each`,
    },
    {
      name: `${name} at half load`,
      value: `p50 ${p50}, p99 ${p99}, max ${max} ms of ${(perSecond / 2).toFixed(0)}/s, core busy ${busy} %`,
    },
    // What the server is charged with and did not do.
    { name: `${name} generator paused`, value: `${(pauses.max / 1e6).toFixed(1)} ms at most` },
  )
}

async function sample(run: Run, index: number, wrong: WrongAnswers): Promise<Sample> {
  const { server, cores, count } = run
  const core = (): number => (cores.server === null ? 0 : coreSeconds(cores.server))
  const before = { ...cpuSeconds(server), core: core() }
  const { startMs, endMs } = await ask(run, new ClosedPacing(index * count, count), count, wrong)
  const after = { ...cpuSeconds(server), core: core() }
  const own = after.server - before.server + after.postgres - before.postgres
  // What other programs took of the core is not the server's.
  const stolen = cores.server === null ? 0 : Math.max(0, after.core - before.core - own)
  return {
    perSecond: count / Math.max((endMs - startMs) / 1000 - stolen, own / 2),
    serverMicros: ((after.server - before.server) * 1e6) / count,
    postgresMicros: ((after.postgres - before.postgres) * 1e6) / count,
  }
}

async function ask(run: Run, pacing: Pacing, count: number, wrong: WrongAnswers): Promise<LoopReport> {
  const { server, questions, connections } = run
  return await runLoop(pacing, {
    port: server.port,
    connections,
    count,
    bytesOf: (number) => questions.bytesOf(number),
    answered: (number, status, body) => {
      const fault = questions.faultOf(number, status, body)
      if (fault !== null) wrong.note(fault)
    },
  })
}
