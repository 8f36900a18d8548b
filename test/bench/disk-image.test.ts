import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DiskImage, diskImageProblem } from '../../bench/disk-image.ts'

const diskBytes = 64 * 1024 ** 2

const skip = diskImageProblem() ?? false

async function withDisk(run: (disk: DiskImage) => void | Promise<void>): Promise<void> {
  // Not in a folder of tap's: that would be removed while the disk is still mounted in it.
  const folder = mkdtempSync(join(tmpdir(), 'spate-disk-'))
  const disk = DiskImage.create(folder, diskBytes)
  try {
    await run(disk)
  } finally {
    await disk.unmount()
    rmSync(folder, { recursive: true })
  }
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'w')
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

t.test('a power cut keeps what was synced and drops what was not', { skip }, (t) =>
  withDisk(async (disk) => {
    writeSynced(join(disk.path, 'synced'), 'here')
    writeFileSync(join(disk.path, 'unsynced'), 'gone')
    disk.cutPower()
    t.throws(() => writeFileSync(join(disk.path, 'later'), ''), { code: 'EIO' })
    await disk.unmount()
    disk.mount()
    t.equal(readFileSync(join(disk.path, 'synced'), 'utf8'), 'here')
    t.notOk(existsSync(join(disk.path, 'unsynced')) && statSync(join(disk.path, 'unsynced')).size > 0)
  }),
)

t.test('the moment of a cut is on the clock that the oracle uses', { skip }, (t) =>
  withDisk(async (disk) => {
    const beforeMs = Number(process.hrtime.bigint()) / 1e6
    const cutMs = disk.cutPower()
    const afterMs = Number(process.hrtime.bigint()) / 1e6
    t.ok(cutMs > beforeMs && cutMs < afterMs, `${beforeMs} < ${cutMs} < ${afterMs}`)
  }),
)

t.test('a disk is filled to the rest that was asked for, and emptied again', { skip }, (t) =>
  withDisk(async (disk) => {
    const path = join(disk.path, 'file')
    disk.fill(0)
    t.throws(() => writeSynced(path, 'x'.repeat(100_000)), { code: 'ENOSPC' })
    disk.empty()
    writeSynced(path, 'x'.repeat(100_000))
    disk.fill(8 * 1024 ** 2)
    t.ok(
      disk.freeBytes() > 7 * 1024 ** 2 && disk.freeBytes() <= 8 * 1024 ** 2,
      `${disk.freeBytes()} bytes free`,
    )
  }),
)
