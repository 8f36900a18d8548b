import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { replaceFile } from '../src/replace-file.ts'

t.test('replaces a file as a whole, readable by its owner only', async (t) => {
  const folder = t.testdir({ 'a.json': 'old and longer' })
  const path = join(folder, 'a.json')
  replaceFile(path, 'new')
  t.equal(readFileSync(path, 'utf8'), 'new')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(readdirSync(folder), ['a.json'])
})

t.test('goes over what a crash left behind', async (t) => {
  const folder = t.testdir({ 'a.json': 'old' })
  writeFileSync(join(folder, 'a.json.new'), 'half of something much longer')
  replaceFile(join(folder, 'a.json'), 'new')
  t.equal(readFileSync(join(folder, 'a.json'), 'utf8'), 'new')
  t.same(readdirSync(folder), ['a.json'])
})
