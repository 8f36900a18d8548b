// The restarting parent. A server whose disk failed or whose owner thread died ends itself (exit 70) rather than go on
// with a doubtful store; the parent starts it again, and the start recovers. It also gives the child the environment
// that must be set before a process begins: libuv's pool size and uWebSockets.js's header limit.

import { type ChildProcess, spawn } from 'node:child_process'
import { childEnvironment } from './config.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './telemetry/log.ts'

/** Exit code of a server that wants to be started again. */
export const exitStorageFailed = 70

/** Wait before the first restart; doubles with every restart that did not last. */
const restartDelayMsMin = 500
const restartDelayMsMax = 30_000
/** A child that lived this long was healthy: the next restart is quick again. */
const healthyMs = 60_000

const forwardedSignals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const

export interface SupervisorOptions {
  /** Script and arguments of the server process. */
  readonly command: readonly string[]
  readonly clock: Clock
  readonly log: Log
}

/**
 * Runs the server until it ends for good, and returns its exit code. Restarts it after exit 70 and after a death by a
 * signal that did not come through us. SIGTERM and SIGINT are passed on and end the loop.
 */
export async function supervise({ command, clock, log }: SupervisorOptions): Promise<number> {
  let child: ChildProcess | null = null
  let isStopping = false
  let wake: () => void = () => {}
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGTERM' || signal === 'SIGINT') isStopping = true
    child?.kill(signal)
    wake()
  }
  for (const signal of forwardedSignals) process.on(signal, onSignal)
  try {
    for (let delayMs = restartDelayMsMin; ; delayMs = Math.min(delayMs * 2, restartDelayMsMax)) {
      const startedMs = clock.monotonicMs()
      // Node's own flags (source maps, memory) are passed on. The channel tells the child when its parent is gone.
      child = spawn(process.execPath, [...process.execArgv, ...command], {
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        env: childEnvironment(),
      })
      const { code, signal } = await ended(child)
      if (isStopping || (code !== exitStorageFailed && signal === null)) return code ?? 1
      if (clock.monotonicMs() - startedMs > healthyMs) delayMs = restartDelayMsMin
      log.error({ code, signal, delayMs }, 'the server ended and is started again')
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, delayMs)
      })
      if (isStopping) return code ?? 1
    }
  } finally {
    for (const signal of forwardedSignals) process.off(signal, onSignal)
  }
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}
