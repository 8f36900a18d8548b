import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readCopy, writeCopy } from '../src/checked-copy.ts'
import { silentLog as log } from './support/postgres.ts'

t.test('reads what was written, and nothing that was damaged', async (t) => {
  const file = join(t.testdir(), 'copy')
  t.equal(readCopy(file, log), null, 'there is none yet')
  writeCopy(file, '["ü"]', log)
  t.equal(readFileSync(file, 'utf8'), '765e0806\n["ü"]')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(readCopy(file, log), '["ü"]')
  writeFileSync(file, '765e0806\n["u"]')
  t.equal(readCopy(file, log), null)
  writeFileSync(file, '')
  t.equal(readCopy(file, log), null)
})

t.test('a copy that cannot be written is no failure', async (t) => {
  const file = join(t.testdir(), 'missing', 'copy')
  writeCopy(file, '[]', log)
  t.equal(readCopy(file, log), null)
})
