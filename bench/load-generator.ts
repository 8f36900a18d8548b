// The generator, a process of its own on a core of its own: packs the requests of a workload ahead and sends them as
// it is told. Started by LoadProcess (load-process.ts) with its settings as JSON in the last argument; one command at
// a time.

import { createCorpus } from './corpus.ts'
import { type LatencyMs, latencyOf } from './latency.ts'
import { ClosedPacing, OpenPacing } from './pacing.ts'
import { RequestBytes } from './request-bytes.ts'
import { type LoopReport, runLoop } from './request-loop.ts'
import { workloadNamed } from './workload.ts'

export interface GeneratorSettings {
  readonly workload: string
  readonly seed: number
  readonly projectApiKey: string
}

export type GeneratorCommand =
  | { readonly kind: 'prepare'; readonly first: number; readonly count: number }
  | {
      readonly kind: 'send'
      readonly port: number
      readonly connections: number
      /** Requests `first` to `first + count - 1`. */
      readonly first: number
      readonly count: number
      /** Null: as fast as answers come. */
      readonly requestsPerSecond: number | null
    }

/** What became of the requests of a `send`. */
export interface LoadReport {
  readonly startMs: number
  readonly endMs: number
  readonly latencyMs: LatencyMs
  readonly overloaded: number
  /** Requests that were answered otherwise than 200, by number; null: not at all. */
  readonly failures: readonly (readonly [number: number, status: number | null])[]
  /** Processor time of the generator (s). */
  readonly cpuSeconds: number
}

export interface GeneratorDone {
  /** Null for any other command than `send`. */
  readonly report: LoadReport | null
  readonly problem: string | null
}

export class LoadGenerator {
  readonly #bytes: RequestBytes

  constructor({ workload, seed, projectApiKey }: GeneratorSettings) {
    this.#bytes = new RequestBytes(createCorpus(seed, projectApiKey), workloadNamed(workload))
  }

  async obey(command: GeneratorCommand): Promise<LoadReport | null> {
    if (command.kind === 'send') return await this.#send(command)
    this.#bytes.prepare(command.count, command.first)
    return null
  }

  async #send(command: Extract<GeneratorCommand, { kind: 'send' }>): Promise<LoadReport> {
    const { port, connections, first, count, requestsPerSecond } = command
    const failures: [number, number | null][] = []
    const cpu = process.cpuUsage()
    const pacing =
      requestsPerSecond === null
        ? new ClosedPacing(first, count)
        : new OpenPacing(first, count, requestsPerSecond)
    const loop = await runLoop(pacing, {
      port,
      connections,
      count,
      bytesOf: (number) => this.#bytes.bytesOf(number),
      answered: (number, status) => {
        if (status !== 200) failures.push([number, status])
      },
    })
    const { user, system } = process.cpuUsage(cpu)
    return { ...describeLoop(loop), failures, cpuSeconds: (user + system) / 1e6 }
  }
}

function describeLoop({ startMs, endMs, latency, overloaded }: LoopReport) {
  return { startMs, endMs, overloaded, latencyMs: latencyOf(latency) }
}

if (process.send !== undefined) {
  // LoadProcess passes its settings as JSON.
  const generator = new LoadGenerator(JSON.parse(process.argv.at(-1)!) as GeneratorSettings)
  process.on('message', (command: GeneratorCommand) => {
    const done = (report: LoadReport | null, problem: string | null): void => {
      process.send?.({ report, problem } satisfies GeneratorDone)
    }
    generator.obey(command).then(
      (report) => done(report, null),
      (error: Error) => done(null, error.stack ?? error.message),
    )
  })
  process.once('disconnect', () => process.exit(0))
}
