// Small files that are replaced as a whole: after a crash there is the old text or the new one, never a mixture.

import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes `text` to `path` and returns when it is on disk: a new file beside it, fsync, rename, fsync of the folder.
 * The name of the new file is fixed, so a crash leaves at most one, and the next call overwrites it.
 */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  const next = `${path}.new`
  const file = openSync(next, 'w', mode)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(next, path)
  syncFolder(dirname(path))
}

/** Creates a folder and its parents where they are missing; what was created is on disk when it returns. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  let parent = dirname(path)
  while (parent.length >= first.length) {
    syncFolder(parent)
    parent = dirname(parent)
  }
  syncFolder(parent)
}

/** Makes renames, creations and removals in `folder` durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
