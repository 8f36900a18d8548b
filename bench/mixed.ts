// How long do answers to /decide take while events come in and people use the management API?
//
// Of all requests 80 % are batches of 20 events, 15 % ask for flags, and 5 % list flags with a personal key. First they
// are sent as fast as answers come, and the rate is taken at which both stores keep up; then at 70 % of it, each at its
// own moment. The server, with its Postgres, has one core. Every answer for flags is compared with the plain
// evaluation, and every other one must be 200.

import { openPostgres } from '../src/postgres/pool.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { machineMs } from './clock.ts'
import { createCorpus } from './corpus.ts'
import { cpuSeconds } from './cpu.ts'
import { FlagQuestions } from './flag-questions.ts'
import { latencyOf } from './latency.ts'
import { ClosedPacing, OpenPacing, type Pacing } from './pacing.ts'
import { onCore, parseCores } from './pinned.ts'
import { RequestBytes } from './request-bytes.ts'
import { type LoopReport, runLoop } from './request-loop.ts'
import {
  integerOption,
  numberOption,
  type Options,
  type Outcome,
  type ResultRow,
  type Scenario,
} from './scenario.ts'
import { waitUntilSettled } from './sentinel.ts'
import { ServerProcess } from './server-process.ts'
import { workloadNamed } from './workload.ts'
import { type WrongAnswer, WrongAnswers, wrongStatus } from './wrong-answers.ts'

type Kind = 'batches' | 'decide' | 'management'

/** Of twenty requests. */
const shares: Readonly<Record<Kind, number>> = { batches: 16, decide: 3, management: 1 }
const connections: Readonly<Record<Kind, number>> = { batches: 24, decide: 16, management: 4 }
/** The worst 1 % of answers may take so long while events come in (ms). */
const decideMsMax = 25
/** A personal key may ask 480 times a minute. */
const keyCount = 24

export const mixed: Scenario = {
  question: 'how long do answers for flags take while events come in?',
  options: {
    requests: { fallback: '8000', meaning: 'of all kinds, for the rate the server keeps up with' },
    seconds: { fallback: '20', meaning: 'at a share of that rate' },
    load: { fallback: '0.7', meaning: 'that share' },
    flags: { fallback: '50', meaning: 'that are asked for' },
    persons: { fallback: '2000', meaning: 'that ask for them in turn' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async ({ options, folder, say }) => {
    const { server: core, generator } = parseCores(options.cores ?? '')
    const server = new ServerProcess({ dataDir: `${folder}/data`, logPath: `${folder}/server.log`, core })
    await server.accepting()
    const postgres = openPostgres({ connectionString: await server.databaseUrl(), log })
    try {
      const counts = { persons: integerOption(options, 'persons'), flags: integerOption(options, 'flags') }
      const corpus = createCorpus(integerOption(options, 'seed'), server.projectApiKey)
      const bytes = new RequestBytes(corpus, workloadNamed('w2'))
      const questions = await FlagQuestions.define(server, postgres, counts)
      const sender = new Mix(server, bytes, questions, await managementRequests(server))
      return await onCore(generator, () => measure(sender, bytes, options, say))
    } finally {
      await postgres.close()
      await server.stop()
    }
  },
}

async function measure(
  sender: Mix,
  bytes: RequestBytes,
  options: Options,
  say: (line: string) => void,
): Promise<Outcome> {
  const count = integerOption(options, 'requests')
  const seconds = integerOption(options, 'seconds')
  // Twice the first stretch, which also warms up.
  bytes.prepare(count * 2)
  await sender.stretch(count, null)
  const full = count / (await sender.stretch(count, null)).seconds
  const perSecond = full * numberOption(options, 'load')
  say(`keeps up with ${full.toFixed(0)} requests/s; now ${perSecond.toFixed(0)}/s`)
  const evenCount = Math.ceil(perSecond * seconds)
  bytes.prepare(sender.sent.batches + evenCount)
  const even = await sender.stretch(evenCount, perSecond)
  return outcomeOf(full, perSecond, even, sender.wrong)
}

interface MixReport {
  /** Until both stores had applied everything. */
  readonly seconds: number
  /** Of the server and its Postgres meanwhile. */
  readonly cpuSeconds: number
  readonly loops: Readonly<Record<Kind, LoopReport>>
}

class Mix {
  readonly #server: ServerProcess
  readonly #bytes: RequestBytes
  readonly #questions: FlagQuestions
  readonly #management: readonly Buffer[]
  readonly wrong = { batches: new WrongAnswers(), decide: new WrongAnswers(), management: new WrongAnswers() }
  readonly sent: Record<Kind, number> = { batches: 0, decide: 0, management: 0 }

  constructor(
    server: ServerProcess,
    bytes: RequestBytes,
    questions: FlagQuestions,
    management: readonly Buffer[],
  ) {
    this.#server = server
    this.#bytes = bytes
    this.#questions = questions
    this.#management = management
  }

  /** Sends `count` requests of all kinds, at a rate or as fast as answers come, and waits until all is applied. */
  async stretch(count: number, perSecond: number | null): Promise<MixReport> {
    const startMs = machineMs()
    const before = cpuSeconds(this.#server)
    const [batches, decide, management] = await Promise.all(
      (['batches', 'decide', 'management'] as const).map((kind) => this.#send(kind, count, perSecond)),
    )
    await waitUntilSettled(this.#server)
    const seconds = (machineMs() - startMs) / 1000
    const after = cpuSeconds(this.#server)
    const used = after.server - before.server + after.postgres - before.postgres
    // One report for each of the three.
    return {
      seconds,
      cpuSeconds: used,
      loops: { batches: batches!, decide: decide!, management: management! },
    }
  }

  async #send(kind: Kind, total: number, perSecond: number | null): Promise<LoopReport> {
    const share = shares[kind] / 20
    const count = Math.max(1, Math.round(total * share))
    const first = this.sent[kind]
    this.sent[kind] += count
    const pacing: Pacing =
      perSecond === null ? new ClosedPacing(first, count) : new OpenPacing(first, count, perSecond * share)
    return await runLoop(pacing, {
      port: this.#server.port,
      connections: connections[kind],
      count,
      bytesOf: (number) => this.#bytesOf(kind, number),
      answered: (number, status, body) => {
        const fault = this.#faultOf(kind, number, status, body)
        if (fault !== null) this.wrong[kind].note(fault)
      },
    })
  }

  #faultOf(kind: Kind, number: number, status: number | null, body: Buffer): WrongAnswer | null {
    if (kind === 'decide') return this.#questions.faultOf(number, status, body)
    return status === 200 ? null : wrongStatus(status, body)
  }

  #bytesOf(kind: Kind, number: number): Buffer {
    if (kind === 'batches') return this.#bytes.bytesOf(number)
    return kind === 'decide'
      ? this.#questions.bytesOf(number)
      : this.#management[number % this.#management.length]!
  }
}

/** The list of flags, asked by keys that take turns. */
async function managementRequests(server: ServerProcess): Promise<Buffer[]> {
  const requests: Buffer[] = []
  for (let index = 0; index < keyCount; index++) {
    const reply = await fetch(`http://127.0.0.1:${server.port}/api/personal_api_keys/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${server.personalApiKey}` },
      body: JSON.stringify({ label: `bench ${index}`, scopes: ['feature_flag:read'] }),
    })
    if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
    const { value } = (await reply.json()) as { value: string } // shown this once
    const path = `/api/projects/${server.projectId}/feature_flags/?limit=10`
    const head = [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${value}`]
    requests.push(Buffer.from(`${head.join('\r\n')}\r\n\r\n`))
  }
  return requests
}

function outcomeOf(
  full: number,
  perSecond: number,
  { loops, seconds, cpuSeconds }: MixReport,
  wrong: Readonly<Record<Kind, WrongAnswers>>,
): Outcome {
  const rows: ResultRow[] = [
    { name: 'keeps up with', value: `${full.toFixed(0)} requests/s` },
    { name: 'sent', value: `${perSecond.toFixed(0)} requests/s` },
    { name: 'core busy', value: `${((cpuSeconds / seconds) * 100).toFixed(0)} %` },
  ]
  const broken: string[] = []
  const slow: string[] = []
  for (const kind of ['decide', 'batches', 'management'] as const) {
    const { latency } = loops[kind]
    const took = latencyOf(latency)
    const [p50, p99, max] = [took.p50, took.p99, took.max].map((ms) => ms.toFixed(1))
    const value = `p50 ${p50}, p99 ${p99}, max ${max} ms (${latency.totalCount} answers)`
    rows.push({ name: kind, value })
    const faults = wrong[kind].describe(kind)
    broken.push(...faults.broken)
    slow.push(...faults.slow)
  }
  const p99Ms = latencyOf(loops.decide.latency).p99
  if (p99Ms > decideMsMax) slow.push(`decide p99 is ${p99Ms.toFixed(1)} ms, not ${decideMsMax}`)
  return { rows, broken, slow }
}
