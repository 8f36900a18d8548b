import t from 'tap'
import { run } from '../../src/postgres/run.ts'

t.test('gives back what a program says, in both outputs, and how it ended', async (t) => {
  const script = 'read line; echo "$line"; echo oops >&2; exit 3'
  const result = await run('/bin/sh', ['-c', script], { cwd: '/', user: null, input: 'hello\n' })
  t.equal(result.ok, false)
  t.same(result.output.split('\n').sort(), ['', 'hello', 'oops'])
})

t.test('passes on nothing of our environment', async (t) => {
  process.env.SPATE_TEST_SECRET = 'phx_secret'
  t.teardown(() => delete process.env.SPATE_TEST_SECRET)
  const result = await run('/usr/bin/env', [], { cwd: '/', user: null })
  t.equal(result.ok, true)
  t.notMatch(result.output, /phx_secret/)
})

t.test('a program that does not exist is a failure with a reason', async (t) => {
  t.match(await run('/nowhere/initdb', [], { cwd: '/', user: null }), { ok: false, output: /ENOENT/ })
})

t.test('a program that reads nothing of its input does no harm', async (t) => {
  const input = 'x'.repeat(1024 * 1024)
  t.match(await run('/bin/sh', ['-c', 'exit 0'], { cwd: '/', user: null, input }), { ok: true })
})
