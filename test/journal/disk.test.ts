import { join } from 'node:path'
import t from 'tap'
import { isMissing, isShortage, nodeDisk, writeAll } from '../../src/journal/disk.ts'
import { watchSyncs } from '../support/synced.ts'
import { errno } from './simulated-disk.ts'

t.test('writes, reads, cuts, renames and lists real files', async (t) => {
  const dir = join(t.testdir(), 'a', 'b')
  nodeDisk.makeDir(dir)
  const fd = nodeDisk.create(join(dir, 'one.tmp'))
  t.equal(nodeDisk.writev(fd, [Buffer.from('01234'), Buffer.from('56789')], 3), 10)
  nodeDisk.fdatasync(fd)
  t.equal(nodeDisk.sizeOf(fd), 13)
  nodeDisk.ftruncate(fd, 8)
  nodeDisk.rename(join(dir, 'one.tmp'), join(dir, 'one'))
  nodeDisk.syncDir(dir)
  nodeDisk.close(fd)
  t.same(nodeDisk.list(dir), ['one'])
  const again = nodeDisk.open(join(dir, 'one'))
  const bytes = Buffer.alloc(10)
  t.equal(nodeDisk.read(again, bytes, 3), 5)
  t.equal(bytes.toString('latin1', 0, 5), '01234')
  nodeDisk.close(again)
  nodeDisk.unlink(join(dir, 'one'))
  t.same(nodeDisk.list(dir), [])
  t.ok(nodeDisk.freeBytes(dir) > 0)
})

t.test('writes more buffers than one call takes, in slices of the given size', async (t) => {
  const path = join(t.testdir(), 'many')
  const fd = nodeDisk.create(path)
  const buffers = Array.from({ length: 1500 }, (_, i) => Buffer.from(`${i},`))
  const text = buffers.map(String).join('')
  let calls = 0
  const written = writeAll(nodeDisk, fd, buffers, 5, 1000, () => {
    calls++
  })
  t.equal(written, text.length)
  t.equal(calls, Math.ceil(text.length / 1000))
  const bytes = Buffer.alloc(text.length)
  nodeDisk.read(fd, bytes, 5)
  t.equal(bytes.toString(), text)
  nodeDisk.close(fd)
})

t.test('tells a shortage from a failed sync', async (t) => {
  t.equal(isShortage(errno('ENOSPC', 'write')), true)
  t.equal(isShortage(errno('EDQUOT', 'open')), true)
  t.equal(isShortage(errno('EMFILE', 'open')), true)
  t.equal(isShortage(errno('ENOSPC', 'fdatasync')), false)
  t.equal(isShortage(errno('ENOSPC', 'fsync')), false)
  t.equal(isShortage(errno('EIO', 'write')), false)
  try {
    nodeDisk.open(join(t.testdir(), 'missing'))
    t.fail('there is no such file')
  } catch (error) {
    t.same([isMissing(error), isShortage(error)], [true, false])
  }
})

t.test('makes a new folder last, and every new folder above it', async (t) => {
  const dir = t.testdir()
  const synced = watchSyncs(t)
  nodeDisk.makeDir(join(dir, 'data', 'journal', 'realtime'))
  t.same(synced.sort(), [dir, join(dir, 'data'), join(dir, 'data', 'journal')])
  nodeDisk.makeDir(join(dir, 'data', 'journal', 'realtime'))
  t.equal(synced.length, 3)
})
