// One request and its one reply. The only object that touches a uWebSockets.js response after the route handler has
// returned, because two mistakes with one are fatal: using it after its socket is gone throws, and never answering
// leaves the client waiting for ever.
//
// States: `receiving` keeps body bytes. `discarding` counts the bytes of a body that is already refused, so that the
// sender gets to read its answer and may go on using the connection; past one more allowance the connection is closed
// instead. `handling` waits for the route. `sending` waits for a slow reader. `over` follows the last byte of the reply
// or the loss of the socket; nothing leads out of it. A reply that comes when the state is `over` is discarded.

import type { HttpResponse } from 'uWebSockets.js'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Bag, InBag } from '../lib/bag.ts'
import { formatBytes } from '../lib/bytes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { Body, type Budget } from './body.ts'
import type { Head } from './head.ts'
import { errorReply, specificError, writeReplyHead } from './reply.ts'
import type { HttpReply, Method, Route } from './route.ts'

export interface TimeLimits {
  /** Longest pause in a body (ms). */
  readonly bodyPauseMsMax: number
  /** Longest time for a whole body (ms). */
  readonly bodyMsMax: number
  /** Longest time from a complete body to its reply (ms). */
  readonly handleMsMax: number
}

/** Told after each reply, for metrics. `status` is 499 when the client went away before its reply. */
export type ObserveReply = (
  routePath: string,
  method: string,
  status: number,
  ms: number,
  bytesIn: number,
) => void

/** What all exchanges of a server share. */
export interface ExchangeHost {
  readonly open: Bag<Exchange>
  readonly budget: Budget
  readonly limits: TimeLimits
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
  readonly observe: ObserveReply
  /** True when people reach this server by https, through a proxy. */
  readonly isHttps: boolean
  isStopping: boolean
}

/** What the router knows of a request. */
export interface Target {
  readonly route: Route
  readonly method: Method
  readonly isHead: boolean
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

/** Replies up to this size are left to uWebSockets.js to buffer; larger ones follow the reader's pace (bytes). */
const bufferedReplyBytesMax = 64 * 1024
/** uWebSockets.js closes a socket whose body brings less than 160 KiB in 10 s; not one older than this (ms). */
const ownTimersAfterMs = 3000
const statusClientGone = 499

export class Exchange implements InBag {
  place = -1
  readonly #host: ExchangeHost
  readonly #target: Target
  readonly #res: HttpResponse
  readonly #head: Head
  readonly #body: Body
  readonly #startedMs: number
  #state: 'receiving' | 'discarding' | 'handling' | 'sending' | 'over' = 'receiving'
  /** When the body last grew, then when it was complete. */
  #movedMs: number
  #bytesIn = 0
  #refusal: HttpReply | null = null
  #goneListener: (() => void) | null = null

  /** Takes the request over. Call `serve` or `refuse` next, before the handler of uWebSockets.js returns. */
  constructor(host: ExchangeHost, target: Target, res: HttpResponse, head: Head) {
    this.#host = host
    this.#target = target
    this.#res = res
    this.#head = head
    this.#body = new Body(host.budget, target.route.bodyBytesMax, head.declaredBytes)
    this.#startedMs = host.clock.monotonicMs()
    this.#movedMs = this.#startedMs
    host.open.add(this)
    res.onAborted(() => this.#lost())
    // Not asked for without need: no last chunk ever follows a head with `Content-Length: 0` that came in two packets.
    if (head.hasBody) res.onData((chunk, isLast) => this.#receive(chunk, isLast))
  }

  /** Answers with what the route says, or with why it was not asked. */
  serve(): void {
    const { route } = this.#target
    const { malformed, declaredBytes, hasBody } = this.#head
    if (malformed !== '') {
      // Where this request ends is in doubt, so nothing after it may be read.
      this.#reply(this.#errorReply(specificError('request_malformed', malformed)), true)
    } else if (this.#host.isStopping) {
      this.#reply(this.#errorReply(new ServiceError('stopping')), true)
    } else if (declaredBytes > route.bodyBytesMax) {
      this.#refuseTooLarge(`${declaredBytes} bytes`)
    } else if (!hasBody) {
      void this.#handle()
    }
  }

  /** Answers with `reply` in place of the route, once the body has gone by. */
  refuse(reply: HttpReply): void {
    const { malformed, declaredBytes, hasBody } = this.#head
    this.#body.release()
    this.#refusal = reply
    this.#state = 'discarding'
    if (malformed !== '' || declaredBytes > this.#readBytesMax()) this.#reply(reply, true)
    else if (!hasBody) this.#reply(reply, false)
  }

  /** Ends what has waited too long. Called about once a second. */
  checkTime(nowMs: number): void {
    const { limits } = this.#host
    if (this.#state === 'receiving' || this.#state === 'discarding') {
      if (nowMs - this.#movedMs > limits.bodyPauseMsMax || nowMs - this.#startedMs > limits.bodyMsMax) {
        this.#reply(this.#errorReply(new ServiceError('body_stalled')), true)
      } else if (nowMs - this.#startedMs > ownTimersAfterMs) {
        // Setting its timer anew leaves slow but steady senders to our limits.
        this.#res.pause()
        this.#res.resume()
      }
    } else if (this.#state === 'handling' && nowMs - this.#movedMs > limits.handleMsMax) {
      this.#host.log.error({ route: this.#target.route.path }, 'no reply within the time limit')
      this.#reply(this.#errorReply(new ServiceError('deadline_exceeded')), false)
    }
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#state === 'over' || this.#state === 'sending') return
    this.#bytesIn += chunk.byteLength
    this.#movedMs = this.#host.clock.monotonicMs()
    if (this.#state === 'receiving' && chunk.byteLength > 0) this.#keep(chunk)
    if (this.#state === 'receiving') {
      if (isLast) void this.#handle()
    } else if (this.#refusal !== null) {
      if (isLast) this.#reply(this.#refusal, false)
      else if (this.#bytesIn > this.#readBytesMax()) this.#reply(this.#refusal, true)
    }
  }

  #keep(chunk: ArrayBuffer): void {
    const answer = this.#body.add(chunk)
    if (answer === 'too_large') this.#refuseTooLarge('more than that')
    if (answer === 'overloaded') {
      const detail = specificError('overloaded', 'too many request bodies in memory')
      this.refuse(this.#errorReply(detail))
    }
  }

  #refuseTooLarge(size: string): void {
    const { route } = this.#target
    const specifics = `the limit of a body is ${formatBytes(route.bodyBytesMax)}, this one has ${size}`
    this.refuse(this.#errorReply(specificError(route.bodyTooLarge, specifics)))
  }

  /** A body over the limit may go on for one more of them. */
  #readBytesMax(): number {
    return 2 * this.#target.route.bodyBytesMax
  }

  async #handle(): Promise<void> {
    this.#state = 'handling'
    const { route, method, path, params } = this.#target
    const { query, headers, peerAddress } = this.#head
    let reply: HttpReply
    try {
      const body = this.#body.take()
      const onGone = (listener: () => void): void => {
        if (this.#state === 'over') listener()
        else this.#goneListener = listener
      }
      const giveBack = this.#body.isLent ? (memory: ArrayBuffer) => this.#body.giveBack(memory) : null
      const request = { method, path, params, query, headers, body, giveBack, peerAddress, onGone }
      reply = await route.handle(request)
    } catch (thrown) {
      reply = this.#errorReply(thrown)
    }
    this.#body.release()
    this.#reply(reply, this.#host.isStopping)
  }

  #errorReply(thrown: unknown): HttpReply {
    const { route } = this.#target
    if (!isServiceError(thrown) || thrown.code === 'internal') {
      this.#host.log.error({ err: thrown, route: route.path }, 'request failed')
    }
    return errorReply(route.errorStyle, thrown)
  }

  #reply(reply: HttpReply, closing: boolean): void {
    if (this.#state === 'over' || this.#state === 'sending') return
    if (this.#state !== 'handling') this.#body.release()
    this.#state = 'sending'
    this.#res.cork(() => {
      const { isHttps } = this.#host
      writeReplyHead(this.#res, this.#target.route, this.#head.headers.origin, reply, isHttps)
      if (this.#target.isHead) this.#res.writeHeader('connection', 'close')
      this.#writeBody(reply, closing)
    })
  }

  #writeBody({ status, body }: HttpReply, closing: boolean): void {
    if (this.#target.isHead && body.length > 0) {
      this.#announceBody(Buffer.byteLength(body), status)
    } else if (body.length <= bufferedReplyBytesMax || closing) {
      this.#res.end(body, closing)
      this.#finish(status)
    } else {
      this.#writeLarge(typeof body === 'string' ? Buffer.from(body) : body, status)
    }
  }

  /**
   * Sends the length of a body and not the body. `endWithoutBody` of uws-pack 20.0.8 never counts as the end of a
   * response (and without a length announces 2^63 bytes), so the connection ends in its place, once the head has left.
   */
  #announceBody(size: number, status: number): void {
    this.#res.tryEnd('', size)
    setImmediate(() => {
      if (this.#state === 'over') return
      this.#finish(status)
      this.#res.close()
    })
  }

  /** uWebSockets.js would buffer all that a slow reader has not taken; tryEnd leaves it here, once. */
  #writeLarge(body: Uint8Array, status: number): void {
    const res = this.#res
    const [, isDone] = res.tryEnd(body, body.byteLength)
    if (isDone) {
      this.#finish(status)
      return
    }
    res.onWritable((offset) => {
      const [isTaken, isAllTaken] = res.tryEnd(body.subarray(offset), body.byteLength)
      if (isAllTaken) this.#finish(status)
      return isTaken
    })
  }

  #lost(): void {
    if (this.#state === 'over') return
    // While the route is working its body stays counted: the memory is still there.
    if (this.#state !== 'handling') this.#body.release()
    const listener = this.#state === 'handling' ? this.#goneListener : null
    this.#finish(statusClientGone)
    listener?.()
  }

  #finish(status: number): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    const { open, clock, observe } = this.#host
    const { route, method, isHead } = this.#target
    open.delete(this)
    const ms = clock.monotonicMs() - this.#startedMs
    observe(route.path, isHead ? 'HEAD' : method, status, ms, this.#bytesIn)
  }
}
