// Whether a process that is no child of ours still runs.

import { readlinkSync } from 'node:fs'

/** A process that has ended and waits to be reaped, which may be for ever, has no program any more. */
export function isRunning(pid: number): boolean {
  try {
    readlinkSync(`/proc/${pid}/exe`)
    return true
  } catch {
    return false
  }
}
