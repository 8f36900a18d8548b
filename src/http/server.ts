// The HTTP server: opens the port, sweeps the open requests for overdue ones, stops in order.

import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { ServiceError } from '../errors.ts'
import { Bag } from '../lib/bag.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { Budget, type BudgetLimits } from './body.ts'
import type { Exchange, ExchangeHost, ObserveReply, TimeLimits } from './exchange.ts'
import type { Route } from './route.ts'
import { registerRoutes } from './router.ts'

const MiB = 1024 * 1024

export interface HttpLimits extends BudgetLimits, TimeLimits {
  /** Time between two looks at the open requests (ms). */
  readonly sweepMs: number
}

export const httpLimitsDefault: HttpLimits = {
  bodyBytesHeldMax: 256 * MiB,
  bigBodyBytesMin: 4 * MiB,
  bigBodiesMax: 2,
  bigBodyBytesKept: 32 * MiB,
  bodyPauseMsMax: 10_000,
  bodyMsMax: 120_000,
  handleMsMax: 30_000,
  sweepMs: 1000,
}

export interface HttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly routes: readonly Route[]
  readonly log: Pick<Log, 'error'>
  readonly observe?: ObserveReply
  readonly limits?: Partial<HttpLimits>
  readonly clock?: Clock
  /** True when people reach this server by https, through a proxy; false when absent. */
  readonly isHttps?: boolean
}

export interface HttpState {
  readonly openRequests: number
  /** Memory held for request bodies. */
  readonly bodyBytes: number
}

export interface HttpServer {
  readonly port: number
  /** Closes the port. Open requests go on; new ones on open connections are answered 503. */
  stopAccepting(): void
  /** Stops accepting, waits until no request is open or `graceMs` have passed, closes every connection. */
  close(graceMs: number): Promise<void>
  /** Closes the port and every connection at once; replies on their way are lost. */
  closeNow(): void
  state(): HttpState
}

/**
 * Opens the server and resolves when it accepts connections.
 * Errors: runtime_unsupported when uWebSockets.js has no binary for this machine; config_invalid when the address
 * cannot be listened on.
 */
export async function openHttpServer(options: HttpOptions): Promise<HttpServer> {
  const uws = await loadUws()
  const limits = { ...httpLimitsDefault, ...options.limits }
  const bodyBytesMax = Math.max(...options.routes.map((route) => route.bodyBytesMax))
  const bigBodyBytesKept =
    bodyBytesMax > limits.bigBodyBytesMin ? Math.min(bodyBytesMax, limits.bigBodyBytesKept) : 0
  const host: ExchangeHost = {
    open: new Bag<Exchange>(),
    budget: new Budget({ ...limits, bigBodyBytesKept }),
    limits,
    clock: options.clock ?? systemClock,
    log: options.log,
    observe: options.observe ?? (() => {}),
    isHttps: options.isHttps ?? false,
    isStopping: false,
  }
  const app = uws.App()
  registerRoutes(app, options.routes, host)
  const socket = await listen(app, options.host, options.port)
  const sweep = setInterval(() => {
    const nowMs = host.clock.monotonicMs()
    host.open.visit((exchange) => exchange.checkTime(nowMs))
  }, limits.sweepMs)
  sweep.unref()

  const stopAccepting = (): void => {
    if (!host.isStopping) uws.us_listen_socket_close(socket)
    host.isStopping = true
  }
  const closeNow = (): void => {
    stopAccepting()
    clearInterval(sweep)
    app.close()
  }
  return {
    port: uws.us_socket_local_port(socket),
    stopAccepting,
    closeNow,
    close: async (graceMs) => {
      stopAccepting()
      await openRequestsEnd(host, graceMs)
      closeNow()
    },
    state: () => ({ openRequests: host.open.size, bodyBytes: host.budget.bytesHeld }),
  }
}

/** Looks again every few milliseconds: a stop is rare, a hook in every reply would not be. */
async function openRequestsEnd(host: ExchangeHost, graceMs: number): Promise<void> {
  const untilMs = host.clock.monotonicMs() + graceMs
  while (host.open.size > 0 && host.clock.monotonicMs() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

type Uws = typeof import('uWebSockets.js')

/** Errors: runtime_unsupported, with the remedy, when there is no binary for this machine. */
export async function loadUws(): Promise<Uws> {
  try {
    return await import('uWebSockets.js')
  } catch (cause) {
    const { node, modules } = process.versions
    const detail =
      `uWebSockets.js has no binary for Node ${node} (ABI ${modules}) on ${process.platform} ${process.arch}; ` +
      'use Node 20 or 22 on Linux with glibc 2.27 or newer, macOS or Windows, or install ' +
      'uWebSockets.js@github:uNetworking/uWebSockets.js#v20.52.0 under the same name'
    throw new ServiceError('runtime_unsupported', { detail, cause })
  }
}

/** With this option a second server on the same port is refused; without it the two would share the connections. */
const exclusivePort = 1

interface ListensExclusively {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): void
}

function listen(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  // The binary takes options after a host as well; only its types forget that form.
  const listening = app as TemplatedApp & ListensExclusively
  return new Promise((resolve, reject) => {
    listening.listen(host, port, exclusivePort, (socket) => {
      if (socket !== false) {
        resolve(socket)
        return
      }
      const detail =
        `HOST ${host} with PORT ${port} cannot be listened on, ` +
        'expected an address of this machine and a free port'
      reject(new ServiceError('config_invalid', { detail }))
    })
  })
}
