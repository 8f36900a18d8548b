import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { findBinaries, npmTree } from '../../src/postgres/binaries.ts'
import { clusterMajor, clusterUser, makeCluster } from '../../src/postgres/cluster.ts'
import { clusterDir } from '../support/cluster.ts'
import { silentLog as log } from '../support/postgres.ts'

const isRoot = process.getuid?.() === 0

t.test('a data folder appears complete, over what a crash left of an earlier attempt', async (t) => {
  const dir = clusterDir(t)
  mkdirSync(join(`${dir}.new`, 'base'), { recursive: true })
  writeFileSync(join(`${dir}.new`, 'PG_VERSION'), '18\n')
  t.equal(clusterMajor(dir), null)
  const user = await clusterUser(dir)
  const binaries = await findBinaries({
    user,
    major: null,
    tree: npmTree(),
    copyFolders: [dirname(dir)],
    log,
  })
  await makeCluster(dir, binaries, user)
  t.equal(clusterMajor(dir), binaries.major)
  t.notOk(existsSync(`${dir}.new`))
  t.equal(statSync(dir).mode & 0o777, 0o700)
  t.match(readFileSync(join(dir, 'pg_hba.conf'), 'utf8'), /^local all all trust$/m)
  const uid = user?.uid ?? process.getuid?.()
  t.same(
    readdirSync(dir).filter((name) => statSync(join(dir, name)).uid !== uid),
    [],
  )
  t.same(await clusterUser(dir), user)
})

t.test('a folder that is something else is not touched', async (t) => {
  const dir = clusterDir(t)
  mkdirSync(dir)
  t.equal(clusterMajor(dir), null)
  writeFileSync(join(dir, 'photos.zip'), '')
  t.throws(() => clusterMajor(dir), { code: 'data_dir_unusable', detail: /photos|neither empty/ })
})

t.test('root runs the server as the owner of its folder', { skip: !isRoot && 'needs root' }, async (t) => {
  const dir = clusterDir(t)
  mkdirSync(dir)
  writeFileSync(join(dir, 'PG_VERSION'), '18\n')
  chownSync(dir, 4321, 4322)
  t.same(await clusterUser(dir), { uid: 4321, gid: 4322 })
})

t.test(
  'a folder of root is refused, since the server does not run as root',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const dir = clusterDir(t)
    mkdirSync(dir)
    writeFileSync(join(dir, 'PG_VERSION'), '18\n')
    await t.rejects(clusterUser(dir), { code: 'data_dir_unusable' })
  },
)
