// Runs a program to its end: the tools of Postgres and the few of the system that the embedded server needs.

import { spawn } from 'node:child_process'

/** An operating system user to run as. */
export interface OsUser {
  readonly uid: number
  readonly gid: number
}

interface RunOptions {
  readonly cwd: string
  /** Null runs as the user of this process. Changing the user needs root. */
  readonly user: OsUser | null
  /** What the program reads from its standard input. */
  readonly input?: string
}

interface RunResult {
  readonly ok: boolean
  /** Both outputs in the order they came, or why the program could not be started. */
  readonly output: string
}

/** initdb needs a second or two; whatever runs this long is stuck. */
const runMsMax = 120_000

/** All that a program sees of our environment: no secret of ours is passed on. */
export const plainEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Options of node's spawn that make the child run as `user`. */
export function asUser(user: OsUser | null): { uid?: number; gid?: number } {
  return user === null ? {} : { uid: user.uid, gid: user.gid }
}

/** Runs `file` and resolves when it has ended; never rejects. */
export function run(file: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: plainEnvironment,
      stdio: 'pipe',
      ...asUser(options.user),
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), runMsMax)
    const settle = (result: RunResult): void => {
      clearTimeout(timer)
      resolve(result)
    }
    let output = ''
    const collect = (chunk: Buffer): void => {
      output += chunk.toString()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    // A program that ends before it has read everything closes the pipe; its exit code tells how it went.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
    child.once('error', (error) => settle({ ok: false, output: error.message }))
    child.once('close', (code) => settle({ ok: code === 0, output }))
  })
}
