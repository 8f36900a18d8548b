import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const file = fileURLToPath(new URL('../../src/cli/spate.js', import.meta.url))

function spate(args: string[], env: Record<string, string> = {}) {
  const all = { PATH: process.env.PATH ?? '', LOG_LEVEL: 'silent', ...env }
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
    env: all,
  })
  return { status, stdout, stderr }
}

t.test('says what it can do when asked, and exits 2 when it is not understood', async (t) => {
  const help = spate(['--help'])
  t.equal(help.status, 0)
  for (const command of ['serve', 'migrate', 'doctor']) t.match(help.stdout, command)
  t.match(spate(['srve']), { status: 2, stderr: /unknown command 'srve'/ })
  t.match(spate(['doctor', '--loud']), { status: 2, stderr: /unknown option '--loud'/ })
})

t.test('names a setting that is not valid and exits 78', async (t) => {
  t.match(spate(['migrate'], { PORT: 'x' }), { status: 78, stderr: /config_invalid: PORT is "x"/ })
})

t.test('migrate makes the embedded database and is quiet the second time', async (t) => {
  const env = { DATA_DIR: join(t.testdir(), 'data') }
  t.match(spate(['migrate'], env), { status: 0, stdout: 'applied 0001_organizations\n' })
  t.match(spate(['migrate'], env), { status: 0, stdout: 'the schema is up to date\n' })
})
