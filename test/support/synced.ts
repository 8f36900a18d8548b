// Which files and folders a test's own thread has synced, by watching node:fs.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Test } from 'tap'

/** Paths in the order of their fsync, from now to the end of the test. */
export function watchSyncs(t: Test): string[] {
  const synced: string[] = []
  const { fsyncSync } = fs
  fs.fsyncSync = (fd) => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${fd}`))
    fsyncSync(fd)
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
  })
  return synced
}
