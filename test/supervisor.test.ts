import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../src/lib/clock.ts'
import { supervise } from '../src/supervisor.ts'
import { openLog } from '../src/telemetry/log.ts'

const log = openLog({ logLevel: 'silent', logFormat: 'json' })

/** A child that appends a line to a file for each start and then runs `code`, which sees the number of starts. */
function childCommand(file: string, code: string): string[] {
  const script =
    `const fs = require('node:fs'); fs.appendFileSync(${JSON.stringify(file)}, 'start\\n');` +
    `const starts = fs.readFileSync(${JSON.stringify(file)}, 'utf8').length / 6; ${code}`
  return ['-e', script]
}

function startCount(file: string): number {
  return readFileSync(file, 'utf8').split('\n').length - 1
}

t.test('starts the server again after exit 70 and returns the code it ends with for good', async (t) => {
  const file = join(t.testdir(), 'starts')
  const command = childCommand(file, 'process.exit(starts < 3 ? 70 : 0)')
  const code = await supervise({ command, clock: systemClock, log })
  t.equal(code, 0)
  t.equal(startCount(file), 3)
})

t.test('starts the server again when it was killed', async (t) => {
  const file = join(t.testdir(), 'starts')
  const command = childCommand(
    file,
    "if (starts < 2) process.kill(process.pid, 'SIGKILL'); else process.exit(0)",
  )
  t.equal(await supervise({ command, clock: systemClock, log }), 0)
  t.equal(startCount(file), 2)
})

t.test('does not restart a server that refuses its configuration', async (t) => {
  const file = join(t.testdir(), 'starts')
  t.equal(await supervise({ command: childCommand(file, 'process.exit(78)'), clock: systemClock, log }), 78)
  t.equal(startCount(file), 1)
})

t.test('passes SIGTERM on and ends with the server', async (t) => {
  const file = join(t.testdir(), 'starts')
  const code =
    "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1e6);" +
    "process.kill(process.ppid, 'SIGTERM')"
  t.equal(await supervise({ command: childCommand(file, code), clock: systemClock, log }), 0)
  t.equal(startCount(file), 1)
})

t.test('gives the server the environment that must be set before it begins', async (t) => {
  const code =
    'const { UV_THREADPOOL_SIZE, UWS_HTTP_MAX_HEADERS_SIZE } = process.env;' +
    "process.exit(UV_THREADPOOL_SIZE === '16' && UWS_HTTP_MAX_HEADERS_SIZE === '65536' ? 0 : 9)"
  t.equal(await supervise({ command: ['-e', code], clock: systemClock, log }), 0)
})
