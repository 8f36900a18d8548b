import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freshDatabase } from './support/postgres.ts'
import { isRunning } from './support/process.ts'
import { startSpate } from './support/spate-process.ts'
import { until } from './support/until.ts'

async function capture(port: unknown, apiKey: string, event: string): Promise<number> {
  const body = JSON.stringify({ api_key: apiKey, event, distinct_id: 'u' })
  const reply = await fetch(`http://127.0.0.1:${port}/capture/`, { method: 'POST', body })
  await reply.arrayBuffer()
  return reply.status
}

t.test(
  'the first start makes keys and prints them once, the second is quiet, and neither leaves a process',
  async (t) => {
    // A volume, for example, that others may look into.
    const dataDir = t.testdir({ data: {} }).concat('/data')
    chmodSync(dataDir, 0o755)
    const first = startSpate(t, { DATA_DIR: dataDir })
    const { port } = await first.logged('listening')
    await until(() => first.output().includes('personal API key'))
    const file = join(dataDir, 'bootstrap.json')
    const made = JSON.parse(readFileSync(file, 'utf8'))
    t.equal(statSync(file).mode & 0o777, 0o600)
    t.match(first.output(), made.project_api_key)
    t.match(first.output(), made.personal_api_key)
    t.equal(await capture(port, made.project_api_key, 'first'), 200)
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    t.ok(isRunning(pid))
    await until(() => existsSync(join(dataDir, 'events.duckdb')))
    const modes = readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).mode & 0o077])
    t.same(
      modes.filter(([, mode]) => mode !== 0),
      [],
      'nobody else reads any of it',
    )
    first.child.kill('SIGINT')
    t.same(await first.ended, { code: 0, signal: null })
    t.notOk(isRunning(pid), 'the embedded Postgres has ended')
    t.notOk(existsSync(join(dataDir, 'events.duckdb.wal')), 'the events store was checkpointed')

    const second = startSpate(t, { DATA_DIR: dataDir })
    const again = await second.logged('listening')
    t.equal(await capture(again.port, made.project_api_key, 'second'), 200)
    second.child.kill('SIGTERM')
    t.same(await second.ended, { code: 0, signal: null })
    t.equal(second.output(), '')
    t.notMatch(JSON.stringify(first.log), made.personal_api_key)
  },
)

t.test('the parent starts a killed server again, and what was acknowledged is there', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const dataDir = join(t.testdir(), 'data')
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: connectionString,
    BOOTSTRAP_PROJECT_API_KEY: 'phc_parent_test',
  }
  const parent = startSpate(t, env, [])
  const { port } = await parent.logged('listening')
  t.equal(await capture(port, 'phc_parent_test', 'before'), 200)
  const [serverPid] = childrenOf(parent.child.pid as number) // a started process has a pid
  process.kill(serverPid as number, 'SIGKILL')
  const again = await parent.logged('listening', 2)
  t.equal(await capture(again.port, 'phc_parent_test', 'after'), 200)
  parent.child.kill('SIGTERM')
  t.same(await parent.ended, { code: 0, signal: null })
  t.notOk(isRunning(serverPid as number))
})

t.test('the server ends when its parent is gone', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const parent = startSpate(t, { DATA_DIR: join(t.testdir(), 'data'), DATABASE_URL: connectionString }, [])
  await parent.logged('listening')
  const [serverPid] = childrenOf(parent.child.pid as number)
  parent.child.kill('SIGKILL')
  await until(() => !isRunning(serverPid as number))
})

t.test(
  'SIGUSR2 logs a diagnosis, SIGHUP changes nothing, and a second server here is refused with 73',
  async (t) => {
    const { connectionString } = await freshDatabase(t)
    const env = { DATA_DIR: join(t.testdir(), 'data'), DATABASE_URL: connectionString }
    const spate = startSpate(t, env)
    await spate.logged('listening')
    spate.child.kill('SIGHUP')
    spate.child.kill('SIGUSR2')
    const { diagnosis } = await spate.logged('diagnosis')
    t.match(diagnosis, { decode_queue_bytes: 0, journal: { lanes: { realtime: { committed: 0 } } } })
    const second = startSpate(t, env)
    t.same(await second.ended, { code: 73, signal: null })
    t.match(second.log.at(-1), { level: 'fatal', code: 'data_dir_unusable', msg: /in use by another Spate/ })
    spate.child.kill('SIGTERM')
    t.same(await spate.ended, { code: 0, signal: null })
  },
)

t.test('a setting that is not valid ends the start with exit 78 and its name', async (t) => {
  const spate = startSpate(t, { PORT: 'http', DATA_DIR: join(t.testdir(), 'data') })
  t.same(await spate.ended, { code: 78, signal: null })
  t.match(spate.log.at(-1), { code: 'config_invalid', msg: /PORT is "http"/ })
})

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children.split(' ').map(Number)
}
