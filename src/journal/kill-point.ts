// Named points at which a crash test makes the whole process end as kill -9 would (setting CRASH_AT).

export const killPoints = [
  'after_writev',
  'after_fdatasync',
  'before_ack',
  'segment_roll',
  'retention_unlink',
  'during_recovery',
] as const
export type KillPoint = (typeof killPoints)[number]

/** Ends the process without another instruction when `killAt` is this point. */
export function killPoint(killAt: string | null, point: KillPoint): void {
  if (killAt !== point) return
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment to arrive at this thread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
