// Named points at which a crash test makes the whole process end as kill -9 would (setting CRASH_AT).

export const journalKillPoints = [
  'after_writev',
  'after_fdatasync',
  'before_ack',
  'segment_roll',
  'retention_unlink',
  'during_recovery',
] as const

export const eventsKillPoints = ['in_duck_commit', 'after_duck_commit', 'in_checkpoint'] as const

export const mirrorKillPoints = ['in_mirror_commit', 'after_mirror_commit'] as const

export const personsKillPoints = ['in_persons_save', 'in_persons_commit', 'after_persons_commit'] as const

export const exportsKillPoints = ['after_extract', 'after_deliver', 'after_export_commit'] as const

export type KillPoint =
  | (typeof journalKillPoints)[number]
  | (typeof eventsKillPoints)[number]
  | (typeof mirrorKillPoints)[number]
  | (typeof personsKillPoints)[number]
  | (typeof exportsKillPoints)[number]

/** Ends the process without another instruction when `killAt` is this point. */
export function killPoint(killAt: string | null, point: KillPoint): void {
  if (killAt !== point) return
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment to arrive at this thread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
