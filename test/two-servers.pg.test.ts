// Two servers on one database: what keeps the second from touching what the first has made.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openPostgres } from '../src/postgres/pool.ts'
import { dumpPostgres } from './persons/postgres-dump.ts'
import { freshDatabase, silentLog } from './support/postgres.ts'
import { type SpateProcess, startSpate } from './support/spate-process.ts'
import { until } from './support/until.ts'

const apiKey = 'phc_two_servers_test'
const wellText = '{"status":"ok","reasons":[]}'

interface World {
  /** Starts a server of its own on `folder`, all on the same database. */
  start(folder: string): SpateProcess
  /** All rows of persons and groups. */
  dump(): Promise<unknown>
  readonly folder: string
}

async function makeWorld(t: Test): Promise<World> {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  const env = { DATABASE_URL: connectionString, BOOTSTRAP_PROJECT_API_KEY: apiKey }
  return {
    start: (folder) => startSpate(t, { ...env, DATA_DIR: folder }),
    dump: () => dumpPostgres(postgres),
    folder: t.testdir(),
  }
}

/** A server at work, and one on a copy of its data folder that persons do not listen to. */
async function startBesideCopy(t: Test, { start, folder }: World) {
  const [dataDir, copyDir] = [join(folder, 'one'), join(folder, 'copy')]
  const maker = start(dataDir)
  t.equal(await capture((await maker.logged('listening')).port, 'anna'), 200)
  await stop(maker)
  cpSync(dataDir, copyDir, { recursive: true })

  const first = start(dataDir)
  const { port } = await first.logged('listening')
  await until(async () => (await readiness(port)).body === wellText)
  const second = start(copyDir)
  const { port: copyPort } = await second.logged('listening')
  await until(async () => (await readiness(copyPort)).body.includes('another Spate'))
  return { dataDir, first, port, second, copyPort }
}

async function capture(port: unknown, distinctId: string): Promise<number> {
  const properties = { $anon_distinct_id: `anonymous ${distinctId}`, $set: { name: distinctId } }
  const body = JSON.stringify({ api_key: apiKey, event: '$identify', distinct_id: distinctId, properties })
  const reply = await fetch(`http://127.0.0.1:${port}/capture/`, { method: 'POST', body })
  await reply.arrayBuffer()
  return reply.status
}

async function readiness(port: unknown): Promise<{ status: number; body: string }> {
  const reply = await fetch(`http://127.0.0.1:${port}/_readyz`)
  return { status: reply.status, body: await reply.text() }
}

async function untilApplied(port: unknown): Promise<void> {
  await until(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return /^spate_persons_lag_bytes\{lane="realtime"\} 0$/m.test(metrics)
  })
}

async function stop(server: SpateProcess): Promise<void> {
  server.child.kill('SIGTERM')
  await server.ended
}

t.test('a server with another journal is refused with exit 78, and the first one goes on', async (t) => {
  const { start, dump, folder } = await makeWorld(t)
  const first = start(join(folder, 'one'))
  const { port } = await first.logged('listening')
  t.equal(await capture(port, 'anna'), 200)
  await untilApplied(port)
  const before = await dump()

  const second = start(join(folder, 'two'))
  t.same(await second.ended, { code: 78, signal: null })
  t.match(second.log.at(-1), {
    level: 'fatal',
    code: 'lineage_foreign',
    msg: /the database belongs to journal .*set DATA_DIR and DATABASE_URL to a pair that belongs together/,
  })
  t.same(await dump(), before)
  t.equal((await readiness(port)).body, wellText)
})

t.test(
  'a copy of a data folder captures, but leaves persons alone while the first server runs',
  async (t) => {
    const world = await makeWorld(t)
    const { dump } = world
    const { first, port, second, copyPort } = await startBesideCopy(t, world)
    t.match(await readiness(copyPort), {
      status: 200,
      body: /"degraded".*"persons","reason":"another Spate works on the persons of this database"/,
    })
    const before = await dump()
    t.equal(await capture(copyPort, 'of the copy'), 200)
    await second.logged(
      'persons: a step was undone and is tried again: another Spate works on the persons of this database',
      3,
    )
    t.same(await dump(), before)

    // What the copy was sent stays in the copy; the first one's persons go on as if it were not there.
    t.equal(await capture(port, 'bob'), 200)
    t.equal(await capture(port, 'carol'), 200)
    await untilApplied(port)
    const after = await dump()
    t.match(JSON.stringify(after), /"anonymous bob"/)
    t.notMatch(JSON.stringify(after), /of the copy/)

    // With the first one gone the lock is free: now the place in the journal tells that this is another one's work.
    await stop(first)
    t.same(await second.ended, { code: 78, signal: null })
    t.match(second.log.at(-1), {
      code: 'lineage_foreign',
      msg: /the persons in Postgres know the realtime lane up to/,
    })
    t.same(await dump(), after)
  },
)

t.test('a copy that has captured more than the first server is found out by its records', async (t) => {
  const world = await makeWorld(t)
  const { start, dump } = world
  const { dataDir, first, port, second, copyPort } = await startBesideCopy(t, world)
  for (const id of ['zoe of the copy', 'tim of the copy', 'ann of the copy'])
    t.equal(await capture(copyPort, id), 200)
  t.equal(await capture(port, 'bob'), 200)
  await untilApplied(port)
  const after = await dump()

  // The place of the first one's persons is one that the copy's journal has too, with something else there.
  await stop(first)
  t.same(await second.ended, { code: 78, signal: null })
  t.match(second.log.at(-1), {
    code: 'lineage_foreign',
    msg: /made from another copy of this journal.*start the one that was last at work/,
  })
  t.same(await dump(), after)

  const again = start(dataDir)
  await untilApplied((await again.logged('listening')).port)
  await stop(again)
  t.same(await dump(), after, 'the one that was last at work goes on')
})
