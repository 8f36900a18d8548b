// Runs test files one after the other in this process, for suite.ts: `SPATE_TEST_FILES="FILE …" node in-turn.js`.
//
// Starting Node and loading tap, Postgres, DuckDB and the schemas of the API is most of what a small file costs. Here
// it is done once. Every file is a test of its own that bears its name, and what it does to `t` it does to that test:
// its tests, its timeout and its teardowns end before the next file is loaded. A file that leaves the process changed
// fails.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'

/** What files call on tap's `t` itself. */
const methods = [
  ...(['before', 'comment', 'setTimeout', 'skip', 'teardown', 'test', 'testdir'] as const),
  ...(['equal', 'fail', 'match', 'notOk', 'ok', 'pass', 'rejects', 'same', 'strictSame', 'throws'] as const),
]

/** What tap listens to while it runs tests. */
const ofTap = ['exit', 'uncaughtExceptionMonitor']

/** Globals of tslib and the AWS SDK, which come when they are loaded. */
const ofLibraries = /^__|^awslambda$/

const files = (process.env.SPATE_TEST_FILES ?? '').split(' ')
const { fail, test } = t
let current: Test | null = null

for (const method of methods) {
  const original = t[method]
  Object.defineProperty(t, method, {
    value: (...values: unknown[]) =>
      current === null ? Reflect.apply(original, t, values) : Reflect.apply(current[method], current, values),
  })
}

// Threads and children of the tests do without: reading the map of every module costs as much as loading it.
process.setSourceMapsEnabled(true)

t.setTimeout(0)
for (const file of files) {
  let before = new Set<string>()
  await test(file, { timeout: Number(process.env.TAP_TIMEOUT) * 1000 }, async (t) => {
    before = stateOfProcess()
    current = t
    await import(pathToFileURL(resolve(file)).href)
  })
  const after = stateOfProcess()
  const gone = [...before].filter((one) => !after.has(one))
  const added = [...after].filter((one) => !before.has(one))
  if (gone.length + added.length > 0)
    fail(`${file} leaves the process changed: without ${gone.join()}, with ${added.join()}`)
}

/** What every file finds as it would in a process of its own. */
function stateOfProcess(): Set<string> {
  const events = process.eventNames().filter((name) => !ofTap.includes(String(name)))
  const listeners = events.map((name) => `${process.listenerCount(name)} for ${String(name)}`)
  const globals = Object.keys(globalThis).filter((name) => !ofLibraries.test(name))
  const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  const values = [`in ${process.cwd()}`, `umask ${process.umask()}`, `exit code ${process.exitCode}`]
  return new Set([...values, ...globals, ...listeners, ...environment])
}
