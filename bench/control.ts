// The control of a power cut: the simplest program that writes and syncs (control-writer.ts). When it loses a record
// that it had noted as synced before the cut, it is the machine that loses synced data, and no server can be judged
// on it.
//
// The file under test holds the numbers 1, 2, 3 … of eight characters each. The notes, on another disk, are a line
// "<number> <machineMs>" for each number, written after its sync.

import { readFileSync, statSync } from 'node:fs'

export const controlRecordBytes = 8

/** How many records were noted before `cutMs` and are not in the file. */
export function countLostRecords(path: string, notesPath: string, cutMs: number): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let noted = 0
  for (const line of readFileSync(notesPath, 'utf8').split('\n')) {
    const [count, ms] = line.split(' ').map(Number)
    if (count !== undefined && ms !== undefined && ms < cutMs) noted = count
  }
  return Math.max(0, noted - Math.floor(size / controlRecordBytes))
}
