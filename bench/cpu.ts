// CPU time as the kernel counts it, in ticks of 10 ms.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerProcess } from './server-process.ts'

const ticksPerSecond = 100

/** CPU seconds used so far by a server and by its embedded Postgres with all its processes, those that ended too. */
export function cpuSeconds({ pid, dataDir }: ServerProcess): { server: number; postgres: number } {
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  const postmaster = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0]) : null
  const children = postmaster === null ? [] : childrenOf(postmaster)
  const postgres = postmaster === null ? 0 : secondsOf(postmaster, true)
  return {
    server: secondsOf(pid, false),
    postgres: children.reduce((sum, child) => sum + secondsOf(child, false), postgres),
  }
}

/** CPU seconds that a process has used so far; 0 once it has ended. */
export function processSeconds(pid: number): number {
  return secondsOf(pid, false)
}

/** CPU seconds that the main thread of a process has used so far, which has its number. */
export function mainThreadSeconds(pid: number): number {
  return secondsIn(`/proc/${pid}/task/${pid}/stat`, false)
}

function secondsOf(pid: number, withEnded: boolean): number {
  return secondsIn(`/proc/${pid}/stat`, withEnded)
}

function secondsIn(path: string, withEnded: boolean): number {
  try {
    // Behind the name, which may hold anything: state, then numbers; utime, stime, cutime, cstime are the 12th to 15th.
    const fields = readFileSync(path, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    const own = fields[11]! + fields[12]!
    return (own + (withEnded ? fields[13]! + fields[14]! : 0)) / ticksPerSecond
  } catch {
    return 0 // it has ended, and its parent has counted it
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}
