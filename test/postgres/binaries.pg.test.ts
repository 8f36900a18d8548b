import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { findBinaries, npmTree } from '../../src/postgres/binaries.ts'
import { clusterUser } from '../../src/postgres/cluster.ts'
import { run } from '../../src/postgres/run.ts'
import { silentLog as log } from '../support/postgres.ts'

const packageTree = npmTree()
const skip = packageTree === null && 'needs the npm package of this platform'

/**
 * The npm package as `npm ci --ignore-scripts` leaves it, without links, where the server's user cannot use it: in a
 * home folder it may not enter (root), in folders it may not write (everybody else).
 */
function unusableTree(t: Test): { tree: string; copies: string } {
  const folder = mkdtempSync(join(tmpdir(), 'spate-test-'))
  const home = join(folder, 'home')
  const copies = join(folder, 'copies')
  mkdirSync(copies)
  cpSync(dirname(packageTree ?? ''), home, {
    recursive: true,
    filter: (path) => !lstatSync(path).isSymbolicLink(),
  })
  const tree = join(home, 'native')
  chmodSync(folder, 0o755)
  chmodSync(copies, 0o755)
  chmodSync(join(tree, 'lib'), 0o555)
  chmodSync(home, 0o700)
  t.teardown(() => {
    chmodSync(join(tree, 'lib'), 0o755)
    rmSync(folder, { recursive: true, force: true })
  })
  return { tree, copies }
}

t.test('finds the npm package and makes the links it came without', { skip }, async (t) => {
  const user = await clusterUser('/nowhere')
  const binaries = await findBinaries({ user, major: null, tree: packageTree, copyFolders: [tmpdir()], log })
  t.equal(binaries.major, 18)
  t.ok(existsSync(join(binaries.folder, 'initdb')))
})

t.test('copies a package that the server cannot use to where it can, once', { skip }, async (t) => {
  const { tree, copies } = unusableTree(t)
  const user = await clusterUser('/nowhere')
  const wanted = { user, major: 18, tree, copyFolders: [join(copies, 'missing'), copies], log }
  const { folder } = await findBinaries(wanted)
  t.ok(folder.startsWith(`${copies}/spate-postgres-`), folder)
  const copy = dirname(folder)
  const made = statSync(copy).ino
  t.match(await run(join(folder, 'initdb'), ['--version'], { cwd: '/', user }), { ok: true, output: /18/ })
  t.equal((await findBinaries(wanted)).folder, folder)
  t.equal(statSync(copy).ino, made)
  t.equal(readdirSync(copies).length, 1)
})

t.test('does not run a copy that others could have changed', { skip }, async (t) => {
  const { tree, copies } = unusableTree(t)
  const user = await clusterUser('/nowhere')
  const wanted = { user, major: 18, tree, copyFolders: [copies], log }
  const { folder } = await findBinaries(wanted)
  chmodSync(dirname(folder), 0o777)
  const second = await findBinaries(wanted).catch((error: unknown) => error)
  t.notMatch(second, { folder })
})

t.test('says what is missing and what to do when no version fits', async (t) => {
  const wanted = { user: null, major: 3, tree: null, copyFolders: [], log }
  await t.rejects(findBinaries(wanted), { code: 'postgres_unavailable', detail: /DATABASE_URL/ })
})
