import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { type Binaries, findBinaries, npmTree } from '../../src/postgres/binaries.ts'
import { clusterUser, makeCluster } from '../../src/postgres/cluster.ts'
import { findPostmaster, startPostmaster, stopPostmaster } from '../../src/postgres/postmaster.ts'
import type { OsUser } from '../../src/postgres/run.ts'
import { clusterDir } from '../support/cluster.ts'
import { silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

async function cluster(t: Test): Promise<{ dir: string; binaries: Binaries; user: OsUser | null }> {
  const dir = clusterDir(t)
  const user = await clusterUser(dir)
  const binaries = await findBinaries({
    user,
    major: null,
    tree: npmTree(),
    copyFolders: [dirname(dir)],
    log,
  })
  await makeCluster(dir, binaries, user)
  return { dir, binaries, user }
}

t.test('starts in a process group of its own and stops without leaving a process', async (t) => {
  const { dir, binaries, user } = await cluster(t)
  t.equal(await findPostmaster(dir), null)
  const child = await startPostmaster(dir, binaries, user, {})
  t.equal(await findPostmaster(dir), child.pid)
  // A signal to a negative pid reaches the group of that name: it exists.
  t.ok(groupExists(child.pid ?? 0))
  await stopPostmaster(dir)
  // What has ended counts until it is reaped, which is not ours to do.
  await until(() => !groupExists(child.pid ?? 0))
  t.equal(await findPostmaster(dir), null)
})

function groupExists(pid: number): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}

t.test('is not misled by a pid file that names another process', async (t) => {
  const { dir, binaries, user } = await cluster(t)
  const stale = [process.pid, dir, '1700000000', '5432', '.', '', '1 2', 'ready   '].join('\n')
  writeFileSync(join(dir, 'postmaster.pid'), `${stale}\n`)
  t.equal(await findPostmaster(dir), null)
  await stopPostmaster(dir)
  const child = await startPostmaster(dir, binaries, user, {})
  t.equal(await findPostmaster(dir), child.pid)
  await stopPostmaster(dir)
})

t.test('says in the words of the server why it does not start', async (t) => {
  const { dir, binaries, user } = await cluster(t)
  const started = startPostmaster(dir, binaries, user, { max_connections: 'many' })
  await t.rejects(started, {
    code: 'postgres_unavailable',
    detail: /invalid value for parameter "max_connections"/,
  })
  t.equal(await findPostmaster(dir), null)
})

t.test('keeps the log of the server small', async (t) => {
  const { dir, binaries, user } = await cluster(t)
  const file = join(dir, 'server.log')
  writeFileSync(file, 'x'.repeat(1024 * 1024 + 1))
  await startPostmaster(dir, binaries, user, {})
  await stopPostmaster(dir)
  t.match(readFileSync(file, 'utf8').slice(0, 200), /starting PostgreSQL/)
})
