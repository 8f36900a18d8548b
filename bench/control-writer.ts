// The program of the control (control.ts): node control-writer.js <file on the disk under test> <notes elsewhere>.
// Runs until the disk refuses to be written.

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { machineMs } from './clock.ts'
import { controlRecordBytes } from './control.ts'

/** The control shows what syncs are worth; it must not compete with the server for the disk. */
const pauseMs = 2

const [path = '', notesPath = ''] = process.argv.slice(2)
const file = openSync(path, 'w')
const notes = openSync(notesPath, 'w')
try {
  for (let count = 1; ; count++) {
    writeSync(file, String(count).padStart(controlRecordBytes))
    fdatasyncSync(file)
    writeSync(notes, `${count} ${machineMs()}\n`)
    await delay(pauseMs)
  }
} catch {
  // The power is gone: the work is done.
} finally {
  closeSync(file)
  closeSync(notes)
}
