// Runs every test file, for `tap`, which knows this file only.
//
// Started by tap itself each file would load tap's TypeScript compiler, mocks and coverage first, and so would every
// thread and every server that it starts: two seconds of a processor a file, and nothing here uses them. So the files
// are started as one starts them by hand, `node --enable-source-maps dist/test/….test.js`, or several in one process
// (in-turn.ts): what they load is the same, and costs more than most of them.

import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/**
 * Processes at a time: two for two cores, and one more that works while the others wait for a disk, a pause between two
 * steps, or the end of a process. The same on a larger machine: it would not find the longest file done any sooner.
 */
const jobs = 3
const fileSecondsMax = 300

/**
 * Rooms whose files share processes. A file of another room has one of its own: it changes or measures the process that
 * it runs in, or other processes work for it.
 */
const sharing = [
  'api/',
  'capture/',
  'cli/',
  'consumer/',
  'contract/',
  'events/',
  'exports/',
  'flags/',
  'http/',
  'identity/',
  'journal/',
  'lib/',
  'mail/',
  'management/',
  'outbound/',
  'persons/',
  'postgres/',
  'query/',
  'sealing/',
  'telemetry/',
]
/** How much memory a body costs is known of a process that has done nothing else. The others are long. */
const notSharing = [
  'capture/gunzip',
  'events/client',
  'exports/outage',
  'exports/run-worker',
  'exports/server',
  'persons/client',
  'persons/kill',
]
/** Enough to share the loading, few enough that no process is left to run beside nothing. */
const filesInTurnMax = 16

/** It measures how much memory bodies cost, and whether they hold up others. */
const alone = ['malformed/']

/** The long ones begin first, so that none of them is left to run beside nothing. */
const long = ['crash/crash', 'crash/', 'main.pg', 'events/client', 'persons/', 'exports/', 'sdk/']

const folder = dirname(fileURLToPath(import.meta.url))
const isOf = (name: string, starts: readonly string[]): boolean =>
  starts.some((start) => name.startsWith(start))
const place = (name: string): number => long.findIndex((start) => name.startsWith(start))

const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js'))
  .sort()
const inTurn = names.filter((name) => isOf(name, sharing) && !isOf(name, notSharing))
const others = names.filter((name) => !inTurn.includes(name))

/** The files of each process, in the order of their starts. */
const runs: string[][] = [
  ...others
    .filter((name) => isOf(name, long))
    .sort((a, b) => place(a) - place(b))
    .map((name) => [name]),
  ...Array.from({ length: Math.ceil(inTurn.length / filesInTurnMax) }, (_, index) =>
    inTurn.slice(index * filesInTurnMax, (index + 1) * filesInTurnMax),
  ),
  ...others.filter((name) => !isOf(name, [...long, ...alone])).map((name) => [name]),
  ...others.filter((name) => isOf(name, alone)).map((name) => [name]),
]

t.setTimeout(0)
t.jobs = jobs
t.plan(runs.length)
for (const files of runs) run(files)

/** Starts a process for one file, or for several. */
function run(files: readonly string[]): void {
  const paths = files.map((name) => relative(process.cwd(), join(folder, name)))
  const [first = ''] = paths
  const command = paths.length === 1 ? ['--enable-source-maps', first] : [join(folder, 'in-turn.js')]
  // tap hands its preloads on in NODE_OPTIONS, whatever environment it is given.
  void t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...command], {
    name: paths.length === 1 ? first : `${first} … ${paths.at(-1)}`,
    buffered: !files.some((name) => isOf(name, alone)),
    timeout: files.length * fileSecondsMax * 1000,
    env: { ...process.env, TAP_TIMEOUT: String(fileSecondsMax), SPATE_TEST_FILES: paths.join(' ') },
  })
}
