// Kill points: places where a crash test makes the process die as if the power went (setting CRASH_AT). Names of other
// rooms mean nothing here.

export type KillPoint = 'in_duck_commit' | 'after_duck_commit' | 'in_checkpoint'

/** Dies here when `here` is the point that the test asked for. */
export function killAt(asked: string | null, here: KillPoint): void {
  if (asked !== here) return
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment to arrive at this thread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
