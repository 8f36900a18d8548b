// Postgres for tests: one server a test run, one database a test, cloned from a migrated template. The server is
// started by the first test that asks and kept by a process of its own, which ends with the run (postgres-keeper.ts).

import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Test } from 'tap'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { openLog } from '../../src/telemetry/log.ts'

export const silentLog = openLog({ logLevel: 'silent', logFormat: 'json' })

/** Under tap a run is the runner that started this file; a file started by hand is a run of its own. */
const runPid = process.env.TAP === undefined ? process.pid : process.ppid
const keeperFile = fileURLToPath(new URL('./postgres-keeper.js', import.meta.url))
const startMsMax = 60_000

let databaseCount = 0

export function keeperSocket(pid: number): string {
  return `\0spate-test-postgres-${pid}`
}

/** A database of its own for one test, migrated unless `empty`; dropped when the test ends. */
export async function freshDatabase(t: Test, empty = false): Promise<{ connectionString: string }> {
  const template = await askKeeper()
  const name = `test_${process.pid}_${++databaseCount}`
  const source = empty ? 'template0' : 'spate'
  // Copying files takes half of the processor time of writing each page to a log that nobody needs (110 of 210 ms).
  const how = `owner spate template ${source} strategy file_copy`
  await asSuperuser(template, `create database ${name} ${how}`)
  t.teardown(() => asSuperuser(template, `drop database ${name} with (force)`))
  return { connectionString: template.replace('@/spate?', `@/${name}?`) }
}

/** A fresh database, opened; closed and dropped when the test ends. */
export async function freshPostgres(t: Test, empty = false): Promise<Postgres> {
  const { connectionString } = await freshDatabase(t, empty)
  const postgres = openPostgres({ connectionString, log: silentLog })
  t.teardown(() => postgres.close())
  return postgres
}

/** Runs one statement as the superuser of the run's server. */
async function asSuperuser(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({
    connectionString: connectionString.replace('spate@/spate', 'postgres@/postgres'),
  })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

let asked: Promise<string> | null = null

function askKeeper(): Promise<string> {
  asked ??= find()
  return asked
}

async function find(): Promise<string> {
  let text = await readSocket()
  if (text === null)
    spawn(process.execPath, [keeperFile, String(runPid)], { detached: true, stdio: 'ignore' }).unref()
  const deadline = performance.now() + startMsMax
  while (text === null && performance.now() < deadline) {
    await delay(20)
    text = await readSocket()
  }
  // Written by the keeper.
  const answer = JSON.parse(text ?? '{"error":"no keeper"}') as { connectionString?: string; error?: string }
  if (answer.connectionString === undefined)
    throw new Error(`the tests' Postgres did not start: ${answer.error}`)
  return answer.connectionString
}

/** What the run's keeper says, which it does when the server is ready; null when there is no keeper. */
function readSocket(): Promise<string | null> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect({ path: keeperSocket(runPid) })
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.once('end', () => resolve(text === '' ? null : text))
    socket.once('error', () => resolve(null))
  })
}
