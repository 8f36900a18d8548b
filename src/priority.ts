// Who goes first where there are more threads than cores: those that answer people. What follows the journal at its
// own pace, the two consumers, stands back for the main thread, decoding and the journal.
//
// Linux keeps a niceness for each thread, and hands it on to the threads that one starts. It shares the processor out
// and starves nobody: at 5 a thread has a third of what one at 0 has, and all of it while that one has nothing to do.
// More than the share it counts that a thread which wakes to answer somebody need not wait for a turn of each consumer.
// Few may take it back, so it does not depend on what waits. Elsewhere a niceness is of a whole process: nothing
// happens there.

import { readlinkSync } from 'node:fs'
import { readlink } from 'node:fs/promises'
import { setPriority } from 'node:os'

export const consumerNiceness = 5

/** The calling thread: `<pid>/task/<tid>`. */
const threadSelf = '/proc/thread-self'
/** Idle threads of libuv's pool take tasks in turn; a few may be busy. */
const poolMissesMax = 32

/** Lets the calling thread, and those that it starts from now on, stand back. */
export function standBack(): void {
  if (process.platform !== 'linux') return
  try {
    lower(readlinkSync(threadSelf))
  } catch {
    // A sandbox without /proc or that call: all threads stay equal.
  }
}

/**
 * Lets the threads of libuv's pool stand back, which all threads of the process share: what they do for people is
 * DuckDB's reads. Returns how many there are.
 */
export async function poolStandsBack(): Promise<number> {
  const lowered = new Set<string>()
  if (process.platform !== 'linux') return 0
  try {
    // Asked in the background, it is a thread of the pool that looks for itself.
    for (let misses = 0; misses < poolMissesMax; misses++) {
      const thread = await readlink(threadSelf)
      if (lowered.has(thread)) continue
      lower(thread)
      lowered.add(thread)
      misses = 0
    }
  } catch {
    // As above.
  }
  return lowered.size
}

function lower(thread: string): void {
  setPriority(Number(thread.split('/').at(-1)), consumerNiceness)
}
