// The oracle's client, a process of its own: sends requests of the corpus at a given rate over kept-alive
// connections, and writes to its journal what it sends and what it is told. It outlives every server it talks to.
//
// A request that got no answer, or a 5xx, is remembered; it can be sent again later with the same uuids, as an SDK
// would. Now and then one that was acknowledged is sent again as well, as if its answer had been lost on the way.
//
// Started by Oracle (oracle.ts) with its settings as JSON in the last argument; obeys one command at a time.

import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { buildRequest, type CaptureRequest, hashRequest, type Shape } from './capture-request.ts'
import { machineMs } from './clock.ts'
import { type Corpus, createCorpus } from './corpus.ts'
import { isRefusal, OracleJournal } from './oracle-journal.ts'
import { createRandom, type Random } from './random.ts'

export interface ClientSettings {
  readonly client: number
  readonly journalPath: string
  readonly seed: number
  readonly projectApiKey: string
}

export interface Load {
  readonly port: number
  readonly requestsPerSecond: number
  readonly connections: number
  /** How often each shape is drawn, relative to the others. */
  readonly mix: Readonly<Partial<Record<Shape, number>>>
  /** Requests after which the load ends by itself. */
  readonly countMax: number
  /** Share of requests that repeat one already acknowledged. */
  readonly repeatShare: number
  /** Share of the requests unanswered so far that are sent again at the beginning. */
  readonly resendShare: number
}

export type Command =
  | { readonly kind: 'prepare'; readonly shape: Shape }
  | { readonly kind: 'load'; readonly load: Load }
  | { readonly kind: 'stop' }
  | { readonly kind: 'resend'; readonly port: number }

/** The answer to every command but `stop`, when it is done. */
export interface Done {
  readonly sent: number
  readonly acknowledged: number
  /** Requests still without an answer that says whether they count. */
  readonly unanswered: number
  readonly problem: string | null
}

/** A request as the client remembers it; the body is built anew for every attempt. */
interface Remembered {
  readonly number: number
  readonly shape: Shape
  attempts: number
}

/** A request ready to be sent, with what goes to the journal at its first attempt. */
interface Built {
  readonly request: CaptureRequest
  readonly hashes: Uint8Array | null
}

const answerMsMax = 40_000
const resendMsMax = 60_000
const resendPauseMs = 50
const repeatableMax = 64

export class OracleClient {
  readonly #settings: ClientSettings
  readonly #corpus: Corpus
  readonly #journal: OracleJournal
  readonly #random: Random
  readonly #unanswered = new Map<number, Remembered>()
  readonly #repeatable: Remembered[] = []
  readonly #prepared = new Map<number, Built>()
  #nextNumber = 0
  #sent = 0
  #acknowledged = 0
  #isStopping = false

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#corpus = createCorpus(settings.seed, settings.projectApiKey)
    this.#journal = new OracleJournal(settings.journalPath)
    this.#random = createRandom(settings.seed, settings.client)
  }

  /** Builds the next request ahead of time, for one that takes long to build. */
  prepare(shape: Shape): void {
    this.#prepared.set(this.#nextNumber, this.#build(this.#nextNumber, shape, true))
  }

  stop(): void {
    this.#isStopping = true
  }

  /** Sends until `stop` or `countMax`, then waits for the last answers. */
  async load(load: Load): Promise<void> {
    this.#isStopping = false
    const again = [...this.#unanswered.values()].filter(() => this.#random.next() < load.resendShare)
    let left = load.countMax
    await this.#drive(load, () => (left-- > 0 ? (again.pop() ?? this.#draw(load)) : null))
  }

  /** Sends every unanswered request again, as often as it takes to get an answer to each. */
  async resend(port: number): Promise<void> {
    this.#isStopping = false
    const startMs = machineMs()
    while (this.#unanswered.size > 0) {
      if (machineMs() - startMs > resendMsMax)
        throw new Error(`${this.#unanswered.size} requests got no answer within ${resendMsMax} ms`)
      const again = [...this.#unanswered.values()]
      await this.#drive({ port, requestsPerSecond: 1000, connections: 4 }, () => again.pop() ?? null)
      if (this.#unanswered.size > 0) await delay(resendPauseMs)
    }
  }

  done(problem: string | null): Done {
    return { sent: this.#sent, acknowledged: this.#acknowledged, unanswered: this.#unanswered.size, problem }
  }

  close(): void {
    this.#journal.close()
  }

  /** Starts what `next` gives at the given rate, never more at once than there are connections. */
  async #drive(
    { port, requestsPerSecond, connections }: Pick<Load, 'port' | 'requestsPerSecond' | 'connections'>,
    next: () => Remembered | null,
  ): Promise<void> {
    // In turn: one that was idle for long may be closed by the server just as it is used again.
    const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
    const inFlight = new Set<Promise<void>>()
    const startMs = machineMs()
    for (let started = 0; !this.#isStopping; started++) {
      const waitMs = startMs + (started * 1000) / requestsPerSecond - machineMs()
      if (waitMs > 0) await delay(waitMs)
      while (inFlight.size >= connections) await Promise.race(inFlight)
      const request = this.#isStopping ? null : next()
      if (request === null) break
      const attempt = this.#attempt(agent, port, request).finally(() => inFlight.delete(attempt))
      inFlight.add(attempt)
    }
    await Promise.all(inFlight)
    agent.destroy()
  }

  #draw({ mix, repeatShare }: Load): Remembered {
    if (this.#repeatable.length > 0 && this.#random.next() < repeatShare) {
      const at = this.#random.below(this.#repeatable.length)
      return this.#repeatable.splice(at, 1)[0]! // `at` is below the length
    }
    return { number: this.#nextNumber++, shape: drawShape(this.#random, mix), attempts: 0 }
  }

  async #attempt(agent: Agent, port: number, remembered: Remembered): Promise<void> {
    const { number, shape } = remembered
    const attempt = remembered.attempts++
    const { request, hashes } = this.#prepared.get(number) ?? this.#build(number, shape, attempt === 0)
    this.#prepared.delete(number)
    this.#journal.sent(number, attempt, machineMs(), shape, hashes)
    this.#sent++
    const status = await post(agent, port, request)
    if (status === null) this.#journal.lost(number, attempt, machineMs())
    else this.#journal.answered(number, attempt, machineMs(), status)
    this.#settle(remembered, status)
  }

  #settle(remembered: Remembered, status: number | null): void {
    if (status === 200) {
      this.#acknowledged++
      if (this.#repeatable.length < repeatableMax) this.#repeatable.push(remembered)
    }
    if (status === 200 || isRefusal(status)) this.#unanswered.delete(remembered.number)
    else this.#unanswered.set(remembered.number, remembered)
  }

  #build(number: number, shape: Shape, withHashes: boolean): Built {
    const request = buildRequest(this.#corpus, this.#settings.client, number, shape)
    return { request, hashes: withHashes ? hashRequest(request) : null }
  }
}

/** Posts a request and reads its answer; null when the connection ended without one. */
function post(agent: Agent, port: number, { path, headers, body }: CaptureRequest): Promise<number | null> {
  return new Promise((resolve) => {
    const options = { agent, host: '127.0.0.1', port, path, method: 'POST', timeout: answerMsMax }
    const request = httpRequest(
      { ...options, headers: { ...headers, 'content-length': body.byteLength } },
      (response) => {
        response.resume()
        // An answer whose end never came is no answer.
        response.once('close', () => resolve(response.complete ? (response.statusCode ?? null) : null))
      },
    )
    request.once('timeout', () => request.destroy())
    // Which error it was does not matter: no answer came.
    request.once('error', () => resolve(null))
    request.end(body)
  })
}

function drawShape(random: Random, mix: Load['mix']): Shape {
  // The keys of `mix` are shapes by its type.
  const weights = Object.entries(mix) as [Shape, number][]
  let point = random.next() * weights.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [shape, weight] of weights) {
    point -= weight
    if (point < 0) return shape
  }
  return weights[0]![0]
}

async function obey(client: OracleClient, command: Command): Promise<void> {
  if (command.kind === 'stop') {
    client.stop()
    return
  }
  let problem: string | null = null
  try {
    if (command.kind === 'prepare') client.prepare(command.shape)
    else if (command.kind === 'load') await client.load(command.load)
    else await client.resend(command.port)
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
  }
  process.send?.(client.done(problem))
}

if (process.send !== undefined) {
  // Oracle passes its settings as JSON.
  const client = new OracleClient(JSON.parse(process.argv.at(-1)!) as ClientSettings)
  process.on('message', (command: Command) => void obey(client, command))
  process.once('disconnect', () => {
    client.close()
    process.exit(0)
  })
}
