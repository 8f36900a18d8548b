import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { mirrorKillPoints } from '../../src/kill-point.ts'
import { uuidOf } from './make-batch.ts'
import { bornAt, changeCount, personAt } from './mirror-kill-child.ts'
import { FakeJournal, openWorld } from './world.ts'

const child = fileURLToPath(new URL('mirror-kill-child.js', import.meta.url))

/** Runs the child to its end and says how it ended. */
function run(dataDir: string, killPoint: string, killAfterMs: number | null = null): Promise<string> {
  return new Promise((resolve) => {
    const running = spawn(process.execPath, [child, dataDir, killPoint], { stdio: 'inherit' })
    const timer = killAfterMs === null ? null : setTimeout(() => running.kill('SIGKILL'), killAfterMs)
    running.on('exit', (code, signal) => {
      if (timer !== null) clearTimeout(timer)
      resolve(signal ?? String(code))
    })
  })
}

async function expectLatest(t: Test, dataDir: string): Promise<void> {
  t.equal(await run(dataDir, 'none'), '0')
  const journal = new FakeJournal()
  journal.append({ rows: Array.from({ length: 40 }, (_, n) => ({ uuid: uuidOf(n), bornId: uuidOf(n) })) })
  const world = await openWorld(dataDir, journal)
  await world.applyAll()
  const latest = new Map<number, number>()
  for (let seq = 1; seq <= changeCount; seq++) latest.set(bornAt(seq), personAt(seq))
  t.same(
    await world.select('select person_id from events order by index'),
    Array.from({ length: 40 }, (_, n) => [uuidOf(latest.get(n) ?? n)]),
  )
  t.same(await world.select('select count(distinct generation), max(seq) from mirror'), [
    ['1', String(changeCount)],
  ])
  t.same(
    await world.select(
      `select (select count(*) - count(distinct born_id) from person_override),
         (select count(*) - count(distinct seq) from person_override_change)`,
    ),
    [['0', '0']],
    'no row twice',
  )
  world.close()
}

for (const killPoint of mirrorKillPoints) {
  t.test(`mirrors everything once after a kill at ${killPoint}, again and again`, async (t) => {
    const dir = t.testdir()
    for (let i = 0; i < 6; i++) t.equal(await run(dir, killPoint), 'SIGKILL')
    await expectLatest(t, dir)
  })
}

t.test('mirrors everything once after kills at any time', async (t) => {
  const dir = t.testdir()
  // Node and DuckDB take a few hundred milliseconds to start: these fall before, into and behind the work.
  for (const afterMs of [300, 400, 500, 600, 700]) await run(dir, 'none', afterMs)
  await expectLatest(t, dir)
})
