// The data folder of the embedded server: who owns it, how it comes to be, how the server is told where it is.
//
// It is made under another name and renamed when it is complete, so a crash on the way leaves nothing that looks like
// a data folder; the next start begins anew. It holds the role `spate`, an ordinary user, and its database `spate`.
//
// The server accepts connections only over a socket inside this folder, which only its owner (and root) may enter, so
// no password is needed and there is none to lose.
//
// Postgres refuses to run as root, and DATA_DIR is 0700, so its user cannot reach its own folder by path. Linux knows
// a path that needs no permission on the way: the programs are started in the folder and told that it is
// /proc/self/cwd.

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { replaceFile, syncFolder } from '../replace-file.ts'
import type { Binaries } from './binaries.ts'
import { type OsUser, run } from './run.ts'

/** Role and database that Spate uses; the superuser of the cluster is `postgres`. */
export const spateRole = 'spate'
export const spateDatabase = 'spate'

/** Users that may run the server when this process is root, in order of preference. */
const userNames = ['postgres', 'nobody']

/** How the server, started in `dir`, is told where its data is. */
export function dataPath(dir: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : dir
}

/**
 * Who has to run the server whose data is in `dir`: null for the user of this process. Root picks the owner of the
 * folder when there is one, so that a user added to the system later changes nothing.
 * Errors: data_dir_unusable when the folder belongs to somebody else, postgres_unavailable when no user is found.
 */
export async function clusterUser(dir: string): Promise<OsUser | null> {
  const ownUid = process.getuid?.() ?? 0
  const owner = existsSync(join(dir, 'PG_VERSION')) ? statSync(dir) : null
  if (owner !== null && owner.uid === ownUid && ownUid !== 0) return null
  if (owner !== null && ownUid === 0 && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  if (owner !== null) {
    const detail =
      `${dir} belongs to user ${owner.uid}, this process runs as user ${ownUid}; ` +
      'start Spate as the user of before, or change the owner'
    throw new ServiceError('data_dir_unusable', { detail })
  }
  if (ownUid !== 0) return null
  for (const name of userNames) {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map((what) => run('id', [what, name], { cwd: '/', user: null })),
    )
    if (uid?.ok && gid?.ok) return { uid: Number(uid.output), gid: Number(gid.output) }
  }
  const detail =
    `PostgreSQL does not run as root and there is no user ${userNames.join(' or ')}; ` +
    'run Spate as another user, or set DATABASE_URL'
  throw new ServiceError('postgres_unavailable', { detail })
}

/** The major version that made the data folder, or null when it does not exist yet. */
export function clusterMajor(dir: string): number | null {
  const file = join(dir, 'PG_VERSION')
  if (existsSync(file)) return Number(readFileSync(file, 'utf8'))
  if (existsSync(dir) && readdirSync(dir).length > 0) {
    const detail = `${dir} is neither empty nor a data folder of PostgreSQL; move it away`
    throw new ServiceError('data_dir_unusable', { detail })
  }
  return null
}

/**
 * Makes the data folder. On return it is complete and on disk.
 * Errors: postgres_unavailable with the last words of the program that failed.
 */
export async function makeCluster(dir: string, binaries: Binaries, user: OsUser | null): Promise<void> {
  const draft = `${dir}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true, mode: 0o700 })
  if (user !== null) chownSync(draft, user.uid, user.gid)
  const program = async (name: string, args: readonly string[], input: string): Promise<void> => {
    const { ok, output } = await run(join(binaries.folder, name), args, { cwd: draft, user, input })
    if (ok) return
    const detail = `${name} failed: ${output.trim().slice(-500)}`
    throw new ServiceError('postgres_unavailable', { detail })
  }
  const layout = ['--locale=C', '--encoding=UTF8', '--username=postgres', '--auth=trust', '--no-instructions']
  await program('initdb', ['-D', dataPath(draft), ...layout], '')
  // In single-user mode a line is a statement, and the end of the input shuts the server down in good order.
  const statements = [`create role ${spateRole} login`, `create database ${spateDatabase} owner ${spateRole}`]
  await program('postgres', ['--single', '-D', dataPath(draft), 'template1'], `${statements.join('\n')}\n`)
  const access = join(draft, 'pg_hba.conf')
  replaceFile(access, '# Whoever may enter this folder may connect.\nlocal all all trust\n')
  if (user !== null) chownSync(access, user.uid, user.gid)
  chmodSync(draft, 0o700)
  renameSync(draft, dir)
  syncFolder(dirname(dir))
}
