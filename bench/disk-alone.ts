// What does the disk itself take? A host that is shared may hold a sync up for a tenth of a second, whoever asked for
// it. Around each stretch at an even rate, group commits of as many bytes at the same rate are made by a process that
// does nothing else (disk-alone-work.ts). How long those take is the least that a server can answer in.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { LatencyMs } from './latency.ts'
import { pinned } from './pinned.ts'

/** A disk whose own p99 is above this says nothing about a server's. A quiet one has 1 to 2 ms. */
const quietP99Ms = 5

export interface DiskLoad {
  /** Written anew, and removed. */
  readonly file: string
  readonly requestsPerSecond: number
  readonly seconds: number
  /** Of each, in the file. */
  readonly requestBytes: number
}

/** Of the seconds before a stretch and of those after it. */
export interface DiskAround {
  readonly before: LatencyMs
  readonly after: LatencyMs
}

/** Whether what was measured in between may be the server's own. */
export function isDiskQuiet({ before, after }: DiskAround): boolean {
  return before.p99 <= quietP99Ms && after.p99 <= quietP99Ms
}

/** From the moment a request was due until it was on disk. */
export async function timeDiskAlone(load: DiskLoad, core: number | null): Promise<LatencyMs> {
  const script = fileURLToPath(new URL('./disk-alone-work.js', import.meta.url))
  const [command, ...args] = pinned(core, [process.execPath, script, JSON.stringify(load)])
  const { stdout } = await promisify(execFile)(command!, args)
  // The script prints nothing else.
  return JSON.parse(stdout) as LatencyMs
}
