// The runner of several files in one process is itself a program: started as suite.ts starts it, on files made here.

import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const program = join(dirname(fileURLToPath(import.meta.url)), 'in-turn.js')

const folder = t.testdir({
  'first.js': `import t from 'tap'
    process.env.FIRST = 'is up'
    t.teardown(() => delete process.env.FIRST)
    t.test('one', async (t) => { t.ok(process.env.FIRST, 'not torn down yet') })`,
  'second.js': `import t from 'tap'
    t.test('two', async (t) => { t.notOk(process.env.FIRST, 'the first is torn down') })`,
  'failing.js': `import t from 'tap'
    t.test('three', async (t) => { t.equal(1, 2) })`,
  'leaving.js': `import t from 'tap'
    process.env.LEFT_BEHIND = 'yes'
    t.pass('leaves something behind')`,
  'throwing.js': `throw new Error('at once')`,
})

function inTurn(...names: string[]): { code: number | null; lines: string[] } {
  const files = names.map((name) => join(folder, name)).join(' ')
  const env = { ...process.env, SPATE_TEST_FILES: files, TAP_TIMEOUT: '60' }
  const { status, stdout } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => /^ *(?:not )?ok /.test(line))
  return {
    code: status,
    lines: lines.map((line) => line.replace(/ # time=.*/, '').replaceAll(`${folder}/`, '')),
  }
}

t.test('each file is a test that bears its name, with its tests in it', async (t) => {
  const { code, lines } = inTurn('first.js', 'second.js')
  t.equal(code, 0)
  t.same(lines, [
    '        ok 1 - not torn down yet',
    '    ok 1 - one',
    'ok 1 - first.js',
    '        ok 1 - the first is torn down',
    '    ok 1 - two',
    'ok 2 - second.js',
  ])
})

t.test('a file that fails does not keep the next from running', async (t) => {
  for (const name of ['failing.js', 'throwing.js']) {
    const { code, lines } = inTurn(name, 'second.js')
    t.not(code, 0)
    t.ok(lines.includes(`not ok 1 - ${name}`))
    t.ok(lines.includes('ok 2 - second.js'))
  }
})

t.test('a file that leaves the process changed fails the run', async (t) => {
  const { code, lines } = inTurn('leaving.js')
  t.not(code, 0)
  t.match(lines.at(-1), /leaving\.js leaves the process changed: without , with LEFT_BEHIND=yes/)
})
