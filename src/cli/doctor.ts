// `spate doctor`: what a start would stumble over, found without starting.

import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { takeDataDir } from '../data-dir.ts'
import { isServiceError } from '../errors.ts'
import { openGeoip } from '../geoip/database.ts'
import { loadUws } from '../http/server.ts'
import { formatBytes } from '../lib/bytes.ts'
import { findBinaries, npmTree } from '../postgres/binaries.ts'
import { clusterMajor, clusterUser } from '../postgres/cluster.ts'
import { openPostgres } from '../postgres/pool.ts'
import { openLog } from '../telemetry/log.ts'

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'note' | 'wrong'
  readonly finding: string
}

/** Free space below which a start is worth a warning (bytes). */
const freeBytesWanted = 2 * 1024 ** 3

interface DoctorOptions {
  /** The environment whose settings are checked; this process's when left out. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly asJson: boolean
}

/** Runs all checks; healthy means that none found something wrong. */
export async function runDoctor({
  env,
  asJson,
}: DoctorOptions): Promise<{ text: string; isHealthy: boolean }> {
  const checks = await check(env)
  const isHealthy = checks.every(({ status }) => status !== 'wrong')
  if (asJson) return { text: `${JSON.stringify({ healthy: isHealthy, checks }, null, 2)}\n`, isHealthy }
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.map(
    ({ name, status, finding }) => `${status.padEnd(5)}  ${name.padEnd(width)}  ${finding}\n`,
  )
  return { text: lines.join(''), isHealthy }
}

async function check(env: DoctorOptions['env']): Promise<Check[]> {
  const node = ok('node', `${process.version}, ABI ${process.versions.modules}`)
  const libraries = [
    await attempt('http server', async () => {
      await loadUws()
      return 'uWebSockets.js loads'
    }),
    await attempt('events store', async () => {
      const { duckdbVersion } = await import('../events/store.ts')
      return `DuckDB ${duckdbVersion()} loads`
    }),
  ]
  let config: Config
  try {
    config = loadConfig(env)
  } catch (error) {
    return [node, ...libraries, wrong('settings', error)]
  }
  return [
    node,
    ...libraries,
    ok('settings', 'all valid'),
    await attempt('data folder', () => checkDataDir(config.dataDir)),
    checkFreeSpace(config.dataDir),
    await attempt('postgres', () => checkPostgres(config)),
    await checkGeoip(config),
    config.siteUrl === null
      ? { name: 'links', status: 'note', finding: "SITE_URL is not set: links use the request's Host" }
      : ok('links', config.siteUrl),
  ]
}

/** Taking the folder would make it; a missing one only needs a parent that can be written. */
async function checkDataDir(path: string): Promise<string> {
  if (!existsSync(path)) {
    accessSync(nearestFolder(path), constants.W_OK)
    return `${path} will be made by the first start`
  }
  accessSync(path, constants.R_OK | constants.W_OK)
  const taken = await takeDataDir(path)
  await taken.release()
  return `${path} is free to use`
}

function checkFreeSpace(path: string): Check {
  const { bavail, bsize } = statfsSync(nearestFolder(path))
  const free = bavail * bsize
  const finding = `${formatBytes(free)} free`
  if (free >= freeBytesWanted) return ok('disk', finding)
  return {
    name: 'disk',
    status: 'note',
    finding: `${finding}; below ${formatBytes(freeBytesWanted)} it may fill soon`,
  }
}

async function checkPostgres(config: Config): Promise<string> {
  if (config.databaseUrl === null) {
    const dir = join(config.dataDir, 'postgres')
    const user = await clusterUser(dir)
    const log = openLog({ logLevel: 'silent', logFormat: 'json' })
    const copyFolders = [dirname(config.dataDir), tmpdir()]
    const found = await findBinaries({ user, major: clusterMajor(dir), tree: npmTree(), copyFolders, log })
    return `embedded PostgreSQL ${found.major}, programs in ${found.folder}`
  }
  const postgres = openPostgres({
    connectionString: config.databaseUrl,
    log: openLog(config),
    connectionsMax: 1,
  })
  try {
    const { rows } = await postgres.query<{ version: string }>('select version() as version')
    return `reachable: ${rows[0]?.version}`
  } finally {
    await postgres.close()
  }
}

async function checkGeoip({ geoipCityDb }: Config): Promise<Check> {
  try {
    const geoip = openGeoip(geoipCityDb)
    if (geoip !== null) return ok('addresses', geoip.describes.join('; '))
  } catch (error) {
    return wrong('addresses', error)
  }
  const finding = 'GEOIP_CITY_DB is not set: events get no $geoip_ properties, and flags cannot ask for them'
  return { name: 'addresses', status: 'note', finding }
}

function nearestFolder(path: string): string {
  let folder = path
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

async function attempt(name: string, find: () => Promise<string>): Promise<Check> {
  try {
    return ok(name, await find())
  } catch (error) {
    return wrong(name, error)
  }
}

function ok(name: string, finding: string): Check {
  return { name, status: 'ok', finding }
}

function wrong(name: string, error: unknown): Check {
  if (isServiceError(error)) return { name, status: 'wrong', finding: error.detail }
  return { name, status: 'wrong', finding: error instanceof Error ? error.message : String(error) }
}
