// Programs in other languages that use their SDKs, run the way their users run them.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot, readText } from '../support/source-tree.ts'

export interface Program {
  /** The SDK with the version that is installed by its lock file. */
  readonly sdk: string
  /** Why it cannot run here, in one line that tells what to do; false if it can. */
  readonly skip: string | false
  /** Runs it to its end and returns the JSON it printed, null for none. Rejects if it fails. */
  run(scenario: string, ...args: string[]): Promise<unknown>
}

/** Locks posthog-python and what it needs. */
const requirements = 'test/sdk/python/requirements.txt'
const goFolder = 'test/sdk/go'
const python = process.env.SPATE_TEST_PYTHON ?? 'python3'

/** Builds from the modules that are there; the network is not asked. */
const goEnv = {
  ...process.env,
  CGO_ENABLED: '0',
  GOFLAGS: '-mod=readonly -buildvcs=false',
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
}

/** The scripts in test/sdk/python, by name. */
export function pythonProgram(): Program {
  const version = pinned(requirements, /^posthog==(.+)$/m)
  const sdk = `posthog-python ${version}`
  const asked = ['-c', 'from posthog.version import VERSION; print(VERSION)']
  const found = spawnSync(python, asked, { encoding: 'utf8' })
  const isThere = found.status === 0 && found.stdout.trim() === version
  return {
    sdk,
    skip: isThere
      ? false
      : `no ${sdk} for ${python}: pip install -r ${requirements}, SPATE_TEST_PYTHON names the interpreter`,
    run: (scenario, ...args) =>
      outputOf(python, [join(projectRoot, `test/sdk/python/${scenario}.py`), ...args]),
  }
}

/** The program in test/sdk/go, which is built when it first runs. */
export function goProgram(): Program {
  const sdk = `posthog-go ${pinned(`${goFolder}/go.mod`, /posthog-go v(.+)$/m)}`
  const cwd = join(projectRoot, goFolder)
  const isThere = spawnSync('go', ['list', '-deps', '.'], { cwd, env: goEnv }).status === 0
  let built: Promise<string> | null = null
  return {
    sdk,
    skip: isThere ? false : `no ${sdk}: install Go 1.21 or later, then (cd ${goFolder} && go mod download)`,
    async run(...args) {
      built ??= build(cwd)
      return outputOf(await built, args)
    },
  }
}

async function build(cwd: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'spate-go-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'sdk')
  await promisify(execFile)('go', ['build', '-o', program, '.'], { cwd, env: goEnv })
  return program
}

async function outputOf(command: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, args, { timeout: 60_000 })
  return stdout === '' ? null : JSON.parse(stdout)
}

function pinned(path: string, pattern: RegExp): string {
  const version = pattern.exec(readText(path))?.[1]
  if (version === undefined) throw new Error(`${path} does not name the version of the SDK`)
  return version
}
