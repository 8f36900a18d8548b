// One lane as the main thread holds it: its thread and the appends that wait for it.
//
// Chains are sent at once, and the lane is woken for all of them when the turn of the event loop ends. What it commits
// comes back one message a group. The queue is bounded in bytes: what is handed over and not yet on disk. An empty
// queue admits any chain.

import { type TransferListItem, Worker } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import { unreachable } from '../lib/assert.ts'
import { formatBytes, ownsItsBuffer } from '../lib/bytes.ts'
import { Numbered } from '../lib/numbered.ts'
import { threadFlags } from '../lib/thread-flags.ts'
import { atTurnEnd } from '../turn-end.ts'
import type { Chain } from './append-ring.ts'
import { chainBytesMax } from './frame-group.ts'
import type { Appended, JournalPart, LaneState, Position } from './journal.ts'
import { createLaneMemory, LaneSender } from './lane-line.ts'
import type { LaneSettings, Log } from './lane-options.ts'
import type { Acks, FromLane, LaneStart, ToLane } from './messages.ts'
import type { Parcel } from './parcel.ts'

interface Waiting {
  readonly bytes: number
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: ServiceError) => void
}

export class LaneClient {
  readonly #worker: Worker
  readonly #line: LaneSender
  readonly #queueBytesMax: number
  readonly #log: Log
  /** By the lane's count of what was sent. */
  readonly #waiting = new Numbered<Waiting>()
  readonly #committedListeners: ((committed: Position) => void)[] = []
  readonly #failedListeners: ((error: ServiceError) => void)[] = []
  readonly #exited: Promise<void>
  #queuedBytes = 0
  /** Something was sent in this turn of the event loop. */
  #isToWake = false
  #isStopping = false
  #error: ServiceError | null = null

  /** Starts the thread and resolves when it has recovered its lane. */
  static async open(settings: LaneSettings, queueBytesMax: number, log: Log): Promise<LaneClient> {
    // Everything runs compiled: this file is dist/src/journal/client.js.
    const entry = new URL('../../workers/journal.js', import.meta.url)
    const memory = createLaneMemory()
    const workerData: LaneStart = { settings, memory }
    const worker = new Worker(entry, { workerData, execArgv: threadFlags })
    try {
      await opened(worker, settings, log)
      return new LaneClient(worker, new LaneSender(memory), queueBytesMax, log)
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  private constructor(worker: Worker, line: LaneSender, queueBytesMax: number, log: Log) {
    this.#worker = worker
    this.#line = line
    this.#queueBytesMax = queueBytesMax
    this.#log = log
    worker.on('message', (message: FromLane) => this.#receive(message))
    worker.on('error', (cause) => this.fail(failedError('a journal thread died', cause)))
    this.#exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        // A thread that closes has answered all before it is gone.
        const isEarly = !this.#isStopping || this.#waiting.size > 0
        if (isEarly) this.fail(failedError(`a journal thread ended with ${code}`, null))
        resolve()
      })
    })
  }

  append(chain: Chain | Parcel): Promise<Appended> {
    const bytes = 'port' in chain ? chain.bytesMax : chainBytesMax(chain)
    const refusal = this.#refusalOf(bytes)
    if (refusal !== null) {
      if ('port' in chain) chain.port.close()
      return Promise.reject(refusal)
    }
    if ('port' in chain) this.#post({ kind: 'append_parcel', parcel: chain }, [chain.port])
    else if (this.#line.put(chain)) this.#wakeAtTurnEnd()
    else this.#postChain(chain)
    this.#queuedBytes += bytes
    return new Promise((resolve, reject) => void this.#waiting.add({ bytes, resolve, reject }))
  }

  state(): LaneState {
    return { ...this.#line.status(), queuedBytes: this.#queuedBytes }
  }

  onCommitted(listener: (committed: Position) => void): void {
    this.#committedListeners.push(listener)
  }

  onFailed(listener: (error: ServiceError) => void): void {
    this.#failedListeners.push(listener)
    if (this.#error !== null) listener(this.#error)
  }

  release(position: Position): void {
    this.#post({ kind: 'release', position })
  }

  async close(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true
      this.#post({ kind: 'close' })
    }
    await this.#exited
  }

  /** Refuses everything, now and later. */
  fail(error: ServiceError): void {
    if (this.#error !== null) return
    this.#error = error
    const waiting = this.#waiting.takeAll()
    this.#queuedBytes = 0
    for (const { reject } of waiting) reject(error)
    for (const listener of this.#failedListeners) listener(error)
  }

  /** Why so many bytes more are not taken, or null. */
  #refusalOf(bytes: number): ServiceError | null {
    if (this.#error !== null) return this.#error
    if (this.#isStopping) return new ServiceError('stopping')
    if (this.#queuedBytes === 0 || this.#queuedBytes + bytes <= this.#queueBytesMax) return null
    const detail =
      `${formatBytes(this.#queuedBytes)} wait for the journal, ${formatBytes(bytes)} more came, ` +
      `the limit is ${formatBytes(this.#queueBytesMax)}`
    return new ServiceError('journal_full', { detail })
  }

  #postChain(chain: Chain): void {
    const moved: ArrayBuffer[] = []
    this.#post({ kind: 'append', chain: chain.map((part) => movable(part, moved)) }, moved)
  }

  #post(message: ToLane, moved: readonly TransferListItem[] = []): void {
    this.#worker.postMessage(message, moved)
    this.#line.posted()
    this.#wakeAtTurnEnd()
  }

  #wakeAtTurnEnd(): void {
    if (!this.#isToWake) atTurnEnd(this.#wake)
    this.#isToWake = true
  }

  readonly #wake = (): void => {
    this.#isToWake = false
    this.#line.ringBell()
  }

  #receive(message: FromLane): void {
    if (!('kind' in message)) {
      this.#acknowledge(message)
      return
    }
    switch (message.kind) {
      case 'refused':
        for (const id of message.ids)
          this.#take(id)?.reject(new ServiceError('journal_full', { detail: message.detail }))
        break
      case 'failed':
        this.fail(failedError(message.detail, null))
        break
      case 'log':
        this.#log(message.level, message.message, message.fields)
        break
      case 'opened':
      case 'refused_to_open':
        throw new Error('assertion failed: a lane opens once')
      default:
        unreachable(message)
    }
  }

  #acknowledge(acks: Acks): void {
    // Another lane's failure may have refused these already: they are then on disk without an acknowledgement.
    if (this.#error !== null) return
    for (let at = 0; at < acks.length; at += 4) {
      this.#take(acks[at]!)?.resolve({
        position: acks[at + 1] as Position, // the lane sends an id, two positions and a count for each chain
        end: acks[at + 2] as Position,
        duplicateCount: acks[at + 3]!,
      })
    }
    const committed = acks.at(-2) as Position // the end of the last chain, of which there is one
    for (const listener of this.#committedListeners) listener(committed)
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.take(id)
    if (waiting === undefined) return undefined
    this.#queuedBytes -= waiting.bytes
    return waiting
  }
}

/** Resolves when the lane's thread has recovered it. */
function opened(worker: Worker, settings: LaneSettings, log: Log): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void => reject(new ServiceError('storage_failed', { cause }))
    // Nothing is committed before something is appended.
    const onMessage = (message: Exclude<FromLane, Acks>): void => {
      if (message.kind === 'log') {
        log(message.level, message.message, message.fields)
        return
      }
      worker.off('error', onError)
      worker.off('message', onMessage)
      const detail = `the journal in ${settings.dir} failed at its start`
      if (message.kind === 'opened') resolve()
      else if (message.kind === 'refused_to_open')
        reject(new ServiceError(message.code, { detail: message.detail }))
      else reject(new ServiceError('storage_failed', { detail }))
    }
    worker.on('error', onError)
    worker.on('message', onMessage)
  })
}

/** The part with its buffers in `moved`. A view on shared memory, such as a small Buffer, is copied instead. */
function movable(part: JournalPart, moved: ArrayBuffer[]): JournalPart {
  const { kind, eventCount } = part
  const payload = ownsItsBuffer(part.payload) ? part.payload : new Uint8Array(part.payload)
  moved.push(payload.buffer)
  if (part.dedupKeys === null) return { kind, payload, eventCount, dedupKeys: null }
  const dedupKeys = ownsItsBuffer(part.dedupKeys) ? part.dedupKeys : new Uint32Array(part.dedupKeys)
  moved.push(dedupKeys.buffer)
  return { kind, payload, eventCount, dedupKeys }
}

function failedError(detail: string, cause: unknown): ServiceError {
  return new ServiceError('journal_failed', cause === null ? { detail } : { detail, cause })
}
