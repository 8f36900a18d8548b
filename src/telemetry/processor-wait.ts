// How long this thread has waited for a processor while it had something to do. Linux keeps that for each thread; to
// read it takes 1.5 µs.

import { closeSync, openSync, readSync } from 'node:fs'

export interface ProcessorWait {
  /** Since the thread began (ms); always 0 where the system does not tell. */
  ms(): number
  close(): void
}

/** Of the calling thread. `path` has three numbers: nanoseconds run, nanoseconds waited, turns. */
export function openProcessorWait(path: string = '/proc/thread-self/schedstat'): ProcessorWait {
  const file = openIfThere(path)
  if (file === null) return { ms: () => 0, close: () => {} }
  const text = Buffer.alloc(64)
  return {
    ms() {
      const size = readSync(file, text, 0, text.length, 0)
      return Number(text.toString('latin1', 0, size).split(' ')[1]) / 1e6
    },
    close: () => closeSync(file),
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch {
    // Another system, a sandbox without /proc, or a kernel that does not keep it.
    return null
  }
}
