// How fast was the machine meanwhile? A host that is shared changes its speed, and takes a core away for milliseconds
// at a time. A fixed piece of work (machine-speed-work.ts) on the server's core before and after each part of the suite
// says how fast it was, and a second of doing nothing beside it how long the core was away. No figure is changed by it:
// it says which figures may be compared.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pinned } from './pinned.ts'

/** Processor time of the fixed work, ms: what stays in the core's caches, and what goes to memory with each step. */
export interface FixedWork {
  readonly computeMs: number
  readonly memoryMs: number
}

/** Gaps of more than a millisecond in a second of looking at the clock. */
export interface Away {
  readonly count: number
  readonly longestMs: number
}

export interface MachineMoment {
  readonly work: FixedWork
  readonly away: Away
}

/** What the machine was like around a part. */
export interface MachineSpeed {
  readonly before: MachineMoment
  readonly after: MachineMoment
}

/** Null when the work cannot be run: what is measured beside it counts nevertheless. */
export async function examineMachine(core: number | null): Promise<MachineMoment | null> {
  const script = fileURLToPath(new URL('./machine-speed-work.js', import.meta.url))
  const [command, ...args] = pinned(core, [process.execPath, script])
  try {
    const { stdout } = await promisify(execFile)(command!, args)
    // The script prints nothing else.
    return JSON.parse(stdout) as MachineMoment
  } catch {
    return null // the figures stand without it
  }
}

/** The least that each half of the work ever took. */
export function fastestOf(works: readonly FixedWork[]): FixedWork | null {
  if (works.length === 0) return null
  return {
    computeMs: Math.min(...works.map(({ computeMs }) => computeMs)),
    memoryMs: Math.min(...works.map(({ memoryMs }) => memoryMs)),
  }
}

/** Of the fastest ever: 1 is as fast, 0.5 took twice as long. The mean of both halves, before and after. */
export function speedShare({ before, after }: MachineSpeed, fastest: FixedWork): number {
  const shares = [before.work, after.work].flatMap(({ computeMs, memoryMs }) => [
    fastest.computeMs / computeMs,
    fastest.memoryMs / memoryMs,
  ])
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

/** Gaps before and after together. */
export function awayOf({ before, after }: MachineSpeed): Away {
  return {
    count: before.away.count + after.away.count,
    longestMs: Math.max(before.away.longestMs, after.away.longestMs),
  }
}
