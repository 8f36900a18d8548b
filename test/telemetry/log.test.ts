import { spawnSync } from 'node:child_process'
import t from 'tap'

function logged(logLevel: string, logFormat: string): string {
  const code =
    `import { openLog } from ${JSON.stringify(new URL('../../src/telemetry/log.js', import.meta.url).href)};` +
    `const log = openLog({ logLevel: '${logLevel}', logFormat: '${logFormat}' });` +
    `log.info({ rows: 3 }, 'loaded'); log.error({ err: new Error('why') }, 'failed'); process.exit(0)`
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stderr
}

t.test(
  'writes one JSON line a record on stderr, the last one also when the process ends at once',
  async (t) => {
    const [first, second, rest] = logged('info', 'json')
      .split('\n')
      .map((line) => (line === '' ? null : JSON.parse(line)))
    t.match(first, { level: 'info', rows: 3, msg: 'loaded', time: /^\d{4}-\d\d-\d\dT/ })
    t.match(second, { level: 'error', msg: 'failed', err: { message: 'why' } })
    t.equal(rest, null)
  },
)

t.test('leaves out what is less severe than the level', async (t) => {
  t.equal(logged('error', 'json').trim().split('\n').length, 1)
  t.equal(logged('silent', 'json'), '')
})

t.test('writes readable lines when asked to', async (t) => {
  t.match(logged('info', 'pretty'), /INFO.*: .*loaded/)
})
