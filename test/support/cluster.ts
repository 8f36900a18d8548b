// A data folder of Postgres for tests of the server itself.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import root, { type Test } from 'tap'
import { findBinaries, npmTree } from '../../src/postgres/binaries.ts'
import { clusterUser, makeCluster } from '../../src/postgres/cluster.ts'
import { stopPostmaster } from '../../src/postgres/postmaster.ts'
import { silentLog as log } from './postgres.ts'

/** A place for a data folder; whatever runs there when the test ends is stopped, and the place is removed. */
export function clusterDir(t: Test): string {
  const parent = mkdtempSync(join(tmpdir(), 'spate-test-'))
  const dir = join(parent, 'postgres')
  t.teardown(async () => {
    await stopPostmaster(dir)
    rmSync(parent, { recursive: true, force: true })
  })
  return dir
}

/** A complete data folder. Made once for a test file and copied, since the disk is slow to make it sure. */
export async function madeCluster(t: Test): Promise<string> {
  made ??= make()
  const dir = clusterDir(t)
  execFileSync('cp', ['-a', await made, dir])
  return dir
}

let made: Promise<string> | null = null

async function make(): Promise<string> {
  const dir = clusterDir(root)
  const user = await clusterUser(dir)
  await makeCluster(
    dir,
    await findBinaries({ user, major: null, tree: npmTree(), copyFolders: [tmpdir()], log }),
    user,
  )
  return dir
}

/** The rows of one statement over a connection of its own. */
export async function rowsOf(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {}) // the statement that meets it reports it
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
