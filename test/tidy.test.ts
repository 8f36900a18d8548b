// The house rules that a machine can check. A rule that fails is discussed, then the code or the rule is changed.

import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { settings } from '../src/config.ts'
import { errorCodes } from '../src/errors.ts'
import {
  findCycle,
  functionSizes,
  projectRoot,
  readSources,
  readText,
  type SourceFile,
} from './support/source-tree.ts'

const src = readSources('src', 'workers', 'wasm')
const everything = [...src, ...readSources('bench', 'test')]
const readme = readText('README.md')

/** Longest file, function and line. A test's literal expectations may take more room. */
const fileLinesMax = 300
const testLinesMax = 400
const functionLinesMax = 70
const columnsMax = 120

/** Outside libraries, and the only places that may know them. */
const libraryHomes: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['src/http/'],
  '@duckdb/node-api': ['src/events/'],
  '@duckdb/node-bindings': ['src/events/row-chunk.ts', 'src/events/text-heap.ts'],
  pg: ['src/postgres/'],
  'pg-copy-streams': ['src/postgres/'],
  '@aws-sdk/client-s3': ['src/exports/'],
  'node-pg-migrate': ['src/postgres/'],
  piscina: ['src/capture/decode-pool.ts', 'src/events/', 'src/persons/', 'workers/'],
  msgpackr: ['src/capture/', 'src/consumer/', 'src/journal/'],
  typebox: ['src/api/', 'src/management/', 'src/flags/', 'src/exports/'],
  re2js: ['src/flags/pattern.ts'],
  maxmind: ['src/geoip/database.ts'],
  'countries-list': ['src/geoip/place.ts'],
  pino: ['src/telemetry/'],
  'pino-pretty': ['src/telemetry/'],
  'prom-client': ['src/telemetry/'],
  commander: ['src/cli/'],
  'ipaddr.js': ['src/outbound/'],
  nodemailer: ['src/mail/'],
  'graphile-worker': ['src/exports/jobs.ts'],
}

/** Rooms that take and return values: no file system, no network, no threads. */
const pureRooms = ['src/lib/', 'src/identity/']
const impureModules = /^node:(fs|net|http|https|dns|worker_threads|child_process|timers)/

/**
 * Where the network may be spoken to. Addresses that users give us go through src/outbound alone, which judges and pins
 * them; the others have the reason why they need not.
 */
const networkHomes: Readonly<Record<string, string>> = {
  'src/outbound/': 'the one way out',
  'src/exports/http-post.ts': 'speaks through agents of src/outbound',
  'src/postgres/foreign.ts': 'connects to an address that src/outbound has judged',
  'src/data-dir.ts': 'a lock of this machine',
  'src/cli/server-client.ts': 'the command line asks the server that its caller names',
  'src/pages/join.ts': 'a script for browsers',
}
/** Types, and what only looks at text, say nothing to anybody. */
const networkModules = "'node:(?:https?|http2|net|tls|dns|dgram)"
const textWords = '(?:(?:isIP|isIPv4|isIPv6|BlockList|STATUS_CODES)(?:, )?)+'
const networkWords = new RegExp(
  [
    `^import (?!type\\b)(?!\\{ ${textWords} \\}).* from ${networkModules}`,
    `import\\(${networkModules}`,
    '\\bfetch\\(|\\bWebSocket\\b',
  ].join('|'),
)
const networkTypes = /^import \{ type \w+ \} from/

/** Files whose behaviour is shown by the tests of another file, with the reason. */
const noTwin: Readonly<Record<string, string>> = {
  'src/capture/capture-task.ts': 'types only',
  'src/exports/delivery.ts': 'types, and an error without behaviour',
  'src/exports/stretch.ts': 'plan.pg.test.ts sees what runs take',
  'src/flags/definition.ts': 'types only',
  'src/http/route.ts': 'types, and replies that every http test sees',
  'src/identity/changes.ts': 'types only',
  'src/identity/known.ts': 'types only',
  'src/journal/journal.ts': 'types only',
  'src/journal/lane-options.ts': 'types only',
  'src/journal/lane-report.ts': 'types only',
  'src/journal/messages.ts': 'types only',
  'src/journal/thread.ts': 'runs in a thread of its own, behind every test of client.ts',
  'src/persons/messages.ts': 'types only',
  'src/persons/persons-store.ts': 'types only',
  'src/serve.ts': 'a whole process, which main.pg.test.ts starts',
  'src/kill-point.ts': 'the kill tests of journal, events, persons and exports, in processes of their own',
  'src/lib/assert.ts': 'two lines that every room runs through',
  'src/lib/clock.ts': 'the clock itself',
}

function report(t: Test, problems: readonly string[]): void {
  for (const problem of problems) t.fail(problem)
  if (problems.length === 0) t.pass('tidy')
}

function eachLine(files: readonly SourceFile[], pattern: RegExp, message: string): string[] {
  return files.flatMap((file) =>
    file.lines.flatMap((line, index) => (pattern.test(line) ? [`${file.path}:${index + 1} ${message}`] : [])),
  )
}

t.test('files, functions and lines stay short', async (t) => {
  const long = everything.filter(
    ({ path, lines }) => lines.length > (path.startsWith('test/') ? testLinesMax : fileLinesMax),
  )
  const wide = everything.flatMap((file) =>
    file.lines.flatMap((line, at) =>
      line.length > columnsMax ? [`${file.path}:${at + 1} ${line.length} columns`] : [],
    ),
  )
  const tall = src.flatMap((file) =>
    functionSizes(file)
      .filter(({ lineCount }) => lineCount > functionLinesMax)
      .map(({ line, name, lineCount }) => `${file.path}:${line} ${name} has ${lineCount} lines`),
  )
  report(t, [...long.map((file) => `${file.path}:1 ${file.lines.length} lines`), ...wide, ...tall])
})

t.test('imports keep to the directions of the house', async (t) => {
  const problems: string[] = []
  for (const file of src) {
    for (const { line, target, isOwn } of file.imports) {
      const where = `${file.path}:${line}`
      const homes = libraryHomes[target]
      const isSrc = file.path.startsWith('src/')
      if (isOwn && isSrc && !target.startsWith('src/')) problems.push(`${where} src imports ${target}`)
      if (isOwn && file.path.startsWith('src/lib/') && !target.startsWith('src/lib/'))
        problems.push(`${where} lib imports ${target}`)
      if (homes && !homes.some((home) => file.path.startsWith(home)))
        problems.push(`${where} only ${homes.join(', ')} may know ${target}`)
      if (impureModules.test(target) && pureRooms.some((room) => file.path.startsWith(room)))
        problems.push(`${where} a pure room imports ${target}`)
    }
  }
  const cycle = findCycle(src)
  if (cycle) problems.push(`${cycle[0]}:1 import cycle ${cycle.join(' → ')}`)
  report(t, problems)
})

t.test('the network is spoken to in few places, and addresses of users are called by one', async (t) => {
  const isHome = (path: string) => Object.keys(networkHomes).some((home) => path.startsWith(home))
  const speaking = src.filter(({ lines }) =>
    lines.some((line) => networkWords.test(line) && !networkTypes.test(line)),
  )
  const strangers = speaking.filter(({ path }) => !isHome(path))
  const gone = Object.keys(networkHomes).filter((home) => !speaking.some(({ path }) => path.startsWith(home)))
  report(t, [
    ...strangers.map(({ path }) => `${path}:1 speaks to the network, which is for src/outbound`),
    ...gone.map((home) => `${home}:1 may speak to the network and does not`),
  ])
})

t.test('settings and the clock are read in one place each', async (t) => {
  const others = (path: string) => src.filter((file) => file.path !== path)
  report(t, [
    ...eachLine(others('src/config.ts'), /process\.env\b/, 'process.env is read in config.ts only'),
    ...eachLine(
      others('src/lib/clock.ts'),
      /\bDate\.now\(|\bperformance\.now\(|\bnew Date\(\)/,
      'the clock is read in lib/clock.ts only',
    ),
  ])
})

t.test('no leftovers', async (t) => {
  const marks = new RegExp(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].map((mark) => `\\b${mark}\\b`).join('|'))
  const casts = new RegExp(
    // Types, not prose: `: any` at the end of a declaration, before a bracket, comma or equals sign.
    [
      '@ts-' + 'ignore',
      'as unknown ' + 'as',
      '[:<] ?an' + 'y\\s*([\\[\\]),=;>|]|$)',
      'as an' + 'y\\b(?! )',
    ].join('|'),
  )
  report(t, [
    ...eachLine(everything, marks, 'leftover mark'),
    ...eachLine(everything, casts, 'a way around the types'),
    ...eachLine(everything, new RegExp('\\.on' + 'ly\\('), 'a test that hides the others'),
  ])
})

t.test('every source file is run by the tests of its own room', async (t) => {
  const tests = everything.filter(({ path }) => path.startsWith('test/'))
  const problems = src
    .filter(({ path }) => path.startsWith('src/') && !(path in noTwin))
    .filter(({ path }) => !isTested(path, tests))
    .map(({ path }) => `${path}:1 is run by no test in ${path.replace(/^src/, 'test').replace(/[^/]+$/, '')}`)
  const gone = Object.keys(noTwin).filter((path) => !src.some((file) => file.path === path))
  report(t, [...problems, ...gone.map((path) => `${path}:1 is excused but does not exist`)])
})

/** A file has a test of its own name, or a test of the same room imports it, directly or through files of the room. */
function isTested(path: string, tests: readonly SourceFile[]): boolean {
  const twin = path.replace(/^src\//, 'test/').replace(/\.ts$/, '')
  if (tests.some((test) => test.path === `${twin}.test.ts` || test.path === `${twin}.pg.test.ts`)) return true
  const room = dirname(path)
  const users = tests.filter((test) => dirname(test.path) === room.replace(/^src/, 'test'))
  return reached(users, room).has(path)
}

function reached(from: readonly SourceFile[], room: string): Set<string> {
  const paths = new Set<string>()
  const visit = (file: SourceFile): void => {
    for (const { target, isTypeOnly } of file.imports) {
      if (isTypeOnly || dirname(target) !== room || paths.has(target)) continue
      paths.add(target)
      const next = src.find((one) => one.path === target)
      if (next) visit(next)
    }
  }
  for (const file of from) visit(file)
  return paths
}

t.test('README names every setting, error code and room', async (t) => {
  const missing = [
    ...Object.values(settings)
      .map(({ env, shown, meaning }) => `| \`${env}\` | ${shown === '' ? '' : `\`${shown}\``} | ${meaning} |`)
      .filter((row) => !readme.includes(row))
      .map((row) => `README.md:1 lacks the setting ${row}`),
    ...errorCodes
      .filter((code) => !readme.includes(`\`${code}\``))
      .map((code) => `README.md:1 lacks error ${code}`),
    ...rooms()
      .filter((room) => !readme.includes(`\`${room}\``))
      .map((room) => `README.md:1 lacks room ${room}`),
  ]
  report(t, missing)
})

t.test('migrations are numbered without gaps', async (t) => {
  for (const folder of ['sql', 'sql/duckdb']) {
    const names = readdirSync(join(projectRoot, folder))
      .filter((name) => name.endsWith('.sql'))
      .sort()
    t.same(
      names.map((name) => Number(name.slice(0, 4))),
      names.map((_, index) => index + 1),
      folder,
    )
  }
})

t.test('dependencies are exact and few', async (t) => {
  const manifest: Record<string, Record<string, string>> = JSON.parse(readText('package.json'))
  const all = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies }
  const loose = Object.entries(all).filter(
    ([, version]) => !/^(npm:[\w.@/-]+@)?\d+\.\d+\.\d+[\w.-]*$/.test(version),
  )
  report(
    t,
    loose.map(([name, version]) => `package.json:1 ${name} is ${version}, not one exact version`),
  )
  const used = new Set(
    src.flatMap((file) => file.imports.filter((one) => !one.isOwn).map((one) => one.target)),
  )
  const undeclared = [...used].filter(
    (name) => !name.startsWith('node:') && !(name in (manifest.dependencies ?? {})),
  )
  report(
    t,
    undeclared.map((name) => `package.json:1 src imports ${name}, which is no runtime dependency`),
  )
})

function rooms(): string[] {
  const folders = readdirSync(join(projectRoot, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )
  return [...folders.map((entry) => `src/${entry.name}/`), 'workers/', 'wasm/', 'sql/', 'bench/', 'test/']
}
