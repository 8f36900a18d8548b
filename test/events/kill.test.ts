import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { eventsKillPoints } from '../../src/kill-point.ts'
import { crashJournal } from './kill-child.ts'
import { openWorld } from './world.ts'

const child = fileURLToPath(new URL('kill-child.js', import.meta.url))

/** Runs the child to its end and says how it ended. */
function run(dataDir: string, killPoint: string, killAfterMs: number | null = null): Promise<string> {
  return new Promise((resolve) => {
    const running = spawn(process.execPath, [child, dataDir, killPoint], { stdio: 'inherit' })
    if (killAfterMs !== null) setTimeout(() => running.kill('SIGKILL'), killAfterMs)
    running.on('exit', (code, signal) => resolve(signal ?? String(code)))
  })
}

async function expectEverythingOnce(t: Test, dataDir: string): Promise<void> {
  const world = await openWorld(dataDir, crashJournal())
  await world.applyAll()
  t.strictSame(await world.select('select count(*), count(distinct uuid), sum(index) from events'), [
    ['6000', '6000', '297000'],
  ])
  t.strictSame(await world.select('select sum(event_count) from progress'), [['6000']])
  world.close()
}

for (const killPoint of eventsKillPoints) {
  t.test(`stores everything once after a kill at ${killPoint}, again and again`, async (t) => {
    const dir = t.testdir()
    for (let i = 0; i < 3; i++) t.equal(await run(dir, killPoint), 'SIGKILL')
    await expectEverythingOnce(t, dir)
  })
}

t.test('stores everything once after kills at any time', async (t) => {
  const dir = t.testdir()
  // Node and DuckDB take a few hundred milliseconds to start: these fall before, into and behind the loading.
  for (const afterMs of [250, 350, 450, 550, 650]) await run(dir, 'none', afterMs)
  await expectEverythingOnce(t, dir)
})
