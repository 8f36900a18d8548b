// Postgres as processes that can be stopped and killed, whoever started them.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { waitFor } from './wait.ts'

/** USER_HZ is 100 on every Linux that Node runs on. */
const msPerTick = 10

/**
 * Kills a Postgres whose data lies in `folder`, or in a draft of it beside it, and waits until it is gone. Returns how
 * many processes that were.
 */
export async function killPostgres(folder: string): Promise<number> {
  const killed = new Set<number>()
  await waitFor('Postgres is gone', 10_000, () => {
    const pids = postgresPids(folder)
    for (const pid of pids) {
      signal(pid, 'SIGKILL')
      killed.add(pid)
    }
    return pids.length === 0 ? true : null
  })
  return killed.size
}

/** Stops every process of a Postgres where it is, as a machine that hangs would: connections stay open and silent. */
export function freezePostgres(folder: string): void {
  for (const pid of postgresPids(folder)) signal(pid, 'SIGSTOP')
}

/** Processor time that the Postgres on `folder` has used so far, by all processes, also those that have ended (ms). */
export function postgresCpuMs(folder: string): number {
  let ticks = 0
  for (const pid of postgresPids(folder)) {
    const [name, fields] = processStat(pid)
    // Its own time; what ended children took is in the first process alone.
    const own = fields.slice(11, name === 'postgres' ? 15 : 13)
    ticks += own.reduce((sum, one) => sum + Number(one), 0)
  }
  return ticks * msPerTick
}

/** The name of a process, and its fields from the state on (man 5 proc_pid_stat). */
function processStat(pid: number): [string, string[]] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [, name = '', fields = ''] = /\((.*)\) (.*)/s.exec(text) ?? []
    return [name, fields.split(' ')]
  } catch {
    return ['', []] // It ended since the folder was listed.
  }
}

/** All of Postgres works in its data folder; nothing else does. */
function postgresPids(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => workingFolder(pid).startsWith(folder)).map(Number)
}

function workingFolder(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // It ended since the folder was listed, or it is a zombie.
    return ''
  }
}

function signal(pid: number, name: 'SIGKILL' | 'SIGSTOP'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended since the folder was listed.
  }
}
