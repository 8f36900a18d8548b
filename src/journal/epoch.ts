// The journal's epoch: a uuid in the file `epoch` of its folder, made with the journal. Stores remember it beside their
// offsets, so that an offset into another journal is refused and not misapplied.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { nodeDisk, writeAll } from './disk.ts'
import { lanes } from './journal.ts'
import { basesOf } from './segment.ts'

/**
 * Reads the epoch of the journal in `dir`, or makes one where there is no journal yet.
 * Errors: data_dir_unusable when there are segments but no epoch that can be read.
 */
export function readOrCreateEpoch(dir: string): string {
  const path = join(dir, 'epoch')
  if (existsSync(path)) {
    const epoch = readFileSync(path, 'latin1').trim()
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(epoch)) return epoch
    throw new ServiceError('data_dir_unusable', {
      detail: `${path} does not hold a uuid: restore it from a backup`,
    })
  }
  nodeDisk.makeDir(dir)
  for (const lane of lanes) {
    const laneDir = join(dir, lane)
    if (!existsSync(laneDir) || basesOf(nodeDisk.list(laneDir), 'seg').length === 0) continue
    const detail = `${path} is missing beside segments in ${laneDir}: restore it from a backup`
    throw new ServiceError('data_dir_unusable', { detail })
  }
  const epoch = randomUUID()
  const fd = nodeDisk.create(`${path}.tmp`)
  try {
    writeAll(nodeDisk, fd, [Buffer.from(`${epoch}\n`)], 0, 64, () => {})
    nodeDisk.fdatasync(fd)
  } finally {
    nodeDisk.close(fd)
  }
  nodeDisk.rename(`${path}.tmp`, path)
  nodeDisk.syncDir(dir)
  return epoch
}
