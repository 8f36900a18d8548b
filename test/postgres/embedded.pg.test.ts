import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findEmbeddedPostgres, openEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { findPostmaster } from '../../src/postgres/postmaster.ts'
import { clusterDir, rowsOf } from '../support/cluster.ts'
import { silentLog as log } from '../support/postgres.ts'
import { isRunning } from '../support/process.ts'
import { until } from '../support/until.ts'

const childFile = fileURLToPath(new URL('../support/embedded-child.js', import.meta.url))
const isRoot = process.getuid?.() === 0
const nobody = { uid: 65534, gid: 65534 }

/** Starts a process that opens the server on `dir`; resolves with where it says the server is. */
async function openInChild(
  dir: string,
  user = {},
): Promise<{ child: ChildProcess; connectionString: string }> {
  const child = spawn(process.execPath, [childFile, dir], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...user,
  })
  const [line] = await once(child.stdout!, 'data') // stdio above says pipe
  return { child, connectionString: String(line).trim() }
}

t.test('makes its data folder, serves an ordinary user, and keeps the data over a stop', async (t) => {
  const dir = clusterDir(t)
  const first = await openEmbeddedPostgres({ dir, log })
  const who = 'select current_user, current_database(), rolsuper from pg_roles where rolname = current_user'
  t.same(await rowsOf(first.connectionString, who), [
    { current_user: 'spate', current_database: 'spate', rolsuper: false },
  ])
  t.same(await rowsOf(first.connectionString, 'show listen_addresses'), [{ listen_addresses: '' }])
  t.equal(statSync(dir).mode & 0o777, 0o700)
  await rowsOf(first.connectionString, 'create table kept as select 42 as answer')
  const pid = await findPostmaster(dir)
  await first.stop()
  t.notOk(isRunning(pid ?? 0))
  t.equal(await findEmbeddedPostgres(dir), null)

  const second = await openEmbeddedPostgres({ dir, log })
  t.same(await rowsOf(second.connectionString, 'select * from kept'), [{ answer: 42 }])
  await second.stop()
})

t.test('replaces the server of a run that was killed', async (t) => {
  const dir = clusterDir(t)
  const { child, connectionString } = await openInChild(dir)
  await rowsOf(connectionString, 'create table kept as select 42 as answer')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const orphan = await findPostmaster(dir)
  t.equal(await findEmbeddedPostgres(dir), connectionString)

  const embedded = await openEmbeddedPostgres({ dir, log })
  t.equal(isRunning(orphan ?? 0), false)
  t.same(await rowsOf(embedded.connectionString, 'select * from kept'), [{ answer: 42 }])
  await embedded.stop()
})

t.test('starts the server again when it ends by itself', async (t) => {
  const dir = clusterDir(t)
  const embedded = await openEmbeddedPostgres({ dir, log })
  const killed = await findPostmaster(dir)
  process.kill(killed ?? 0, 'SIGKILL')
  await until(async () => {
    const pid = await findPostmaster(dir)
    return (
      pid !== null &&
      pid !== killed &&
      (await rowsOf(embedded.connectionString, 'select 1').then(Boolean, () => false))
    )
  })
  await embedded.stop()
  t.equal(await findPostmaster(dir), null)
})

t.test('serves under a path that is too long for a socket', async (t) => {
  const dir = join(clusterDir(t), 'x'.repeat(60), 'y'.repeat(60), 'postgres')
  mkdirSync(dirname(dir), { recursive: true })
  const embedded = await openEmbeddedPostgres({ dir, log })
  t.same(await rowsOf(embedded.connectionString, 'select 1 as one'), [{ one: 1 }])
  await embedded.stop()
})

t.test(
  'runs as the user of the process when that is not root',
  { skip: !isRoot && 'is tested by all others' },
  async (t) => {
    const dir = clusterDir(t)
    chownSync(dirname(dir), nobody.uid, nobody.gid)
    const { child, connectionString } = await openInChild(dir, nobody)
    t.same(await rowsOf(connectionString, 'select 1 as one'), [{ one: 1 }])
    t.equal(statSync(dir).uid, nobody.uid)
    child.kill('SIGKILL')
    await once(child, 'exit')
  },
)
