// Runs every test file, for `tap`, which knows this file only.
//
// Started by tap itself each file would load tap's TypeScript compiler, mocks and coverage first, and so would every
// thread and every server that it starts: two seconds of a processor a file, and nothing here uses them. So the files
// are started as one starts them by hand, `node --enable-source-maps dist/test/….test.js`.

import { readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/**
 * Files at a time: two for two cores, and one more that works while the others wait for a disk, a pause between two
 * steps, or the end of a process. The same on a larger machine: it would not find the longest file done any sooner.
 */
const jobs = 3
const fileSecondsMax = 300

/** They measure how long single events take, or how much memory a body costs. */
const alone = ['bench/bulk.test.js', 'malformed/']

/** The long ones begin first, so that none of them is left to run beside nothing. */
const long = [
  'crash/crash',
  'crash/',
  'main.pg',
  'events/client',
  'exports/server',
  'sdk/',
  'contract/',
  'exports/',
]

const folder = dirname(fileURLToPath(import.meta.url))
const rank = (name: string): number => {
  const place = long.findIndex((start) => name.startsWith(start))
  return place < 0 ? long.length : place
}
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js'))
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))

t.setTimeout(0)
t.jobs = jobs
t.plan(names.length)
for (const name of names) {
  const path = relative(process.cwd(), join(folder, name))
  // tap hands its preloads on in NODE_OPTIONS, whatever environment it is given.
  void t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', path], {
    name: path,
    buffered: !alone.some((start) => name.startsWith(start)),
    timeout: fileSecondsMax * 1000,
    env: { ...process.env, TAP_TIMEOUT: String(fileSecondsMax) },
  })
}
