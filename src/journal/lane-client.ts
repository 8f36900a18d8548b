// One lane as the main thread holds it: its thread and the appends that wait for it.
//
// Appends of one turn of the event loop travel in one message, and acknowledgements come back one message a group. The
// queue is bounded in bytes: what is handed over and not yet on disk. An empty queue admits any chain.

import { Worker } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import { assert, unreachable } from '../lib/assert.ts'
import { formatBytes } from '../lib/bytes.ts'
import { threadFlags } from '../lib/thread-flags.ts'
import { atTurnEnd } from '../turn-end.ts'
import { packAppends } from './append-message.ts'
import { partBytesMax } from './frame-group.ts'
import type { Appended, JournalPart, LaneState, Position } from './journal.ts'
import type { LaneSettings, Log } from './lane-options.ts'
import type { LaneStatus } from './lane-report.ts'
import type { FromLane, ToLane } from './messages.ts'
import { bodyBytesMax } from './record.ts'

interface Waiting {
  readonly bytes: number
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: ServiceError) => void
}

export class LaneClient {
  readonly #worker: Worker
  readonly #queueBytesMax: number
  readonly #log: Log
  readonly #waiting = new Map<number, Waiting>()
  readonly #committedListeners: ((committed: Position) => void)[] = []
  readonly #failedListeners: ((error: ServiceError) => void)[] = []
  readonly #exited: Promise<void>
  #status: LaneStatus
  #queuedBytes = 0
  #nextId = 0
  /** Appends of this turn of the event loop, not sent yet. */
  #ids: number[] = []
  #chains: (readonly JournalPart[])[] = []
  #isStopping = false
  #error: ServiceError | null = null

  /** Starts the thread and resolves when it has recovered its lane. */
  static async open(settings: LaneSettings, queueBytesMax: number, log: Log): Promise<LaneClient> {
    // Everything runs compiled: this file is dist/src/journal/client.js.
    const entry = new URL('../../workers/journal.js', import.meta.url)
    const worker = new Worker(entry, { workerData: settings, execArgv: threadFlags })
    try {
      const status = await opened(worker, settings, log)
      return new LaneClient(worker, status, queueBytesMax, log)
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  private constructor(worker: Worker, status: LaneStatus, queueBytesMax: number, log: Log) {
    this.#worker = worker
    this.#status = status
    this.#queueBytesMax = queueBytesMax
    this.#log = log
    worker.on('message', (message: FromLane) => this.#receive(message))
    worker.on('error', (cause) => this.fail(failedError('a journal thread died', cause)))
    this.#exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        if (!this.#isStopping) this.fail(failedError(`a journal thread ended with ${code}`, null))
        resolve()
      })
    })
  }

  append(parts: readonly JournalPart[]): Promise<Appended> {
    assert(parts.length > 0, 'a chain has at least one part')
    if (this.#error !== null) return Promise.reject(this.#error)
    if (this.#isStopping) return Promise.reject(new ServiceError('stopping'))
    let bytes = 0
    for (const part of parts) {
      const partBytes = partBytesMax(part)
      assert(partBytes <= bodyBytesMax, `a part takes at most ${formatBytes(bodyBytesMax)}`)
      bytes += partBytes
    }
    if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > this.#queueBytesMax) {
      const detail =
        `${formatBytes(this.#queuedBytes)} wait for the journal, ${formatBytes(bytes)} more came, ` +
        `the limit is ${formatBytes(this.#queueBytesMax)}`
      return Promise.reject(new ServiceError('journal_full', { detail }))
    }
    this.#queuedBytes += bytes
    const id = this.#nextId++
    if (this.#ids.length === 0) atTurnEnd(() => this.#send())
    this.#ids.push(id)
    this.#chains.push(parts)
    return new Promise((resolve, reject) => this.#waiting.set(id, { bytes, resolve, reject }))
  }

  state(): LaneState {
    return { ...this.#status, queuedBytes: this.#queuedBytes }
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
      this.#send()
      this.#isStopping = true
      this.#post({ kind: 'close' })
    }
    await this.#exited
  }

  /** Refuses everything, now and later. */
  fail(error: ServiceError): void {
    if (this.#error !== null) return
    this.#error = error
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#queuedBytes = 0
    for (const { reject } of waiting) reject(error)
    for (const listener of this.#failedListeners) listener(error)
  }

  #post(message: ToLane, moved: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, moved)
  }

  #send(): void {
    if (this.#ids.length === 0 || this.#error !== null) return
    const { message, moved } = packAppends(this.#ids, this.#chains)
    this.#ids = []
    this.#chains = []
    this.#post(message, moved)
  }

  #receive(message: FromLane): void {
    switch (message.kind) {
      case 'committed':
        this.#acknowledge(message.acks, message.status)
        break
      case 'refused':
        for (const id of message.ids)
          this.#take(id)?.reject(new ServiceError('journal_full', { detail: message.detail }))
        break
      case 'failed':
        this.fail(failedError(message.detail, null))
        break
      case 'status':
      case 'closed':
        this.#status = message.status
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

  #acknowledge(acks: readonly number[], status: LaneStatus): void {
    // Another lane's failure may have refused these already: they are then on disk without an acknowledgement.
    if (this.#error !== null) return
    this.#status = status
    for (let at = 0; at < acks.length; at += 4) {
      this.#take(acks[at]!)?.resolve({
        position: acks[at + 1] as Position, // the lane sends an id, two positions and a count for each chain
        end: acks[at + 2] as Position,
        duplicateCount: acks[at + 3]!,
      })
    }
    for (const listener of this.#committedListeners) listener(status.committed)
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    this.#waiting.delete(id)
    this.#queuedBytes -= waiting.bytes
    return waiting
  }
}

/** Resolves with the lane's first status when its thread has recovered it. */
function opened(worker: Worker, settings: LaneSettings, log: Log): Promise<LaneStatus> {
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void => reject(new ServiceError('storage_failed', { cause }))
    const onMessage = (message: FromLane): void => {
      if (message.kind === 'log') {
        log(message.level, message.message, message.fields)
        return
      }
      worker.off('error', onError)
      worker.off('message', onMessage)
      const detail = `the journal in ${settings.dir} failed at its start`
      if (message.kind === 'opened') resolve(message.status)
      else if (message.kind === 'refused_to_open')
        reject(new ServiceError(message.code, { detail: message.detail }))
      else reject(new ServiceError('storage_failed', { detail }))
    }
    worker.on('error', onError)
    worker.on('message', onMessage)
  })
}

function failedError(detail: string, cause: unknown): ServiceError {
  return new ServiceError('journal_failed', cause === null ? { detail } : { detail, cause })
}
