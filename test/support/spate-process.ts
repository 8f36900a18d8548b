// A real Spate process for tests of what only a process can show: signals, exit codes, restarts.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { childEnvironment } from '../../src/config.ts'

export type Environment = Readonly<Record<string, string>>

export interface SpateProcess {
  readonly child: ChildProcess
  /** Lines of the log so far, parsed. */
  readonly log: Record<string, unknown>[]
  /** What was printed on stdout so far. */
  readonly output: () => string
  /** Resolves with the next log line whose msg is `msg`, also one that came already; fails when the process ends. */
  logged(msg: string, occurrence?: number): Promise<Record<string, unknown>>
  /** Resolves when the process has ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const mainFile = fileURLToPath(new URL('../../src/main.js', import.meta.url))

/** Starts `dist/src/main.js` with `args`; the process is killed when the test ends. */
export function startSpate(t: Test, env: Environment, args: readonly string[] = ['--child']): SpateProcess {
  const child = spawn(process.execPath, [mainFile, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...childEnvironment(), HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: 'json', ...env },
  })
  const log: Record<string, unknown>[] = []
  const waiting = new Set<() => void>()
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  createInterface(child.stderr).on('line', (line) => {
    log.push(line.startsWith('{') ? JSON.parse(line) : { msg: line })
    for (const check of waiting) check()
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const logged = async (msg: string, occurrence = 1): Promise<Record<string, unknown>> => {
    const find = () => log.filter((line) => line.msg === msg)[occurrence - 1]
    const found = new Promise<Record<string, unknown>>((resolve) => {
      const check = (): void => {
        const line = find()
        if (!line) return
        waiting.delete(check)
        resolve(line)
      }
      waiting.add(check)
      check()
    })
    const line = await Promise.race([found, ended.then(() => null)])
    if (line === null) throw new Error(`ended before it logged "${msg}": ${JSON.stringify(log)} ${output}`)
    return line
  }
  return { child, log, output: () => output, logged, ended }
}
