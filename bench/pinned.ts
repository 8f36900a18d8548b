// Cores: the server and all it starts on one, the generator on another, so that a figure is one core's work.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export interface Cores {
  /** Null: not pinned, because there is one core only, or no taskset. */
  readonly server: number | null
  readonly generator: number | null
}

const ticksPerSecond = 100

/** "0,1" names the two cores, "none" pins nothing. Throws when it is neither. */
export function parseCores(text: string): Cores {
  const unpinned = { server: null, generator: null }
  if (text === 'none') return unpinned
  const match = /^(\d+),(\d+)$/.exec(text)
  if (match === null) throw new Error(`--cores is ${JSON.stringify(text)}, expected "0,1" or "none"`)
  if (availableParallelism() < 2 || !hasTaskset()) return unpinned
  return { server: Number(match[1]), generator: Number(match[2]) }
}

/** A command line that runs on `core`, with all that it starts. */
export function pinned(core: number | null, command: readonly string[]): readonly string[] {
  return core === null ? command : ['taskset', '-c', String(core), ...command]
}

/**
 * Keeps this process on `core` while `body` runs: it generates the load itself, or looks on. Threads that are there
 * already keep to it too: garbage is collected by some.
 */
export async function onCore<T>(core: number | null, body: () => Promise<T>): Promise<T> {
  if (core === null) return await body()
  const before = allowedCores()
  keepTo(String(core))
  try {
    return await body()
  } finally {
    keepTo(before)
  }
}

/** As taskset writes it: "0,1" or "0-3". */
function allowedCores(): string {
  const status = readFileSync('/proc/self/status', 'utf8')
  return /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? '0' // Linux has the line since 2.6.26
}

function keepTo(cores: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', cores, String(process.pid)], { stdio: 'ignore' })
}

/** Processor seconds that everything has used of a core so far. */
export function coreSeconds(core: number): number {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`cpu${core} `))
  const [user, nice, system, , , irq, softirq, steal] = (line ?? '').split(' ').slice(1).map(Number)
  return (user! + nice! + system! + irq! + softirq! + steal!) / ticksPerSecond // a line of /proc/stat has ten numbers
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // util-linux is not installed
  }
}
