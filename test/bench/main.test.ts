import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const main = fileURLToPath(new URL('../../bench/main.js', import.meta.url))

function bench(...args: string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
  return { code: status, output: stdout + stderr }
}

t.test('without a scenario the bench lists them all with their options', async (t) => {
  const { code, output } = bench()
  t.equal(code, 0)
  for (const name of ['crash', 'powercut', 'diskfull', 'bulk']) t.match(output, new RegExp(`^${name}: `, 'm'))
  t.match(output, /--cycles 100 +kills/)
})

t.test('a scenario or an option that does not exist is a matter of usage', async (t) => {
  const scenario = bench('crush')
  t.equal(scenario.code, 2)
  t.match(scenario.output, /There is no scenario "crush"/)
  const option = bench('crash', '--rounds', '3')
  t.equal(option.code, 2)
  t.match(option.output, /--rounds/)
})
