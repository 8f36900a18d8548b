import t from 'tap'
import { openProjectSettings } from '../../src/flags/project-settings.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { Postgres } from '../../src/postgres/pool.ts'
import { silentLog as log } from '../support/postgres.ts'

/** A database whose one project has heatmaps or not; `hold` lets a read wait that has already seen the row. */
function oneProject() {
  const state = { heatmaps: false, hold: Promise.resolve(), changed: () => {} }
  const row = () => ({ rows: [{ heatmaps_opt_in: state.heatmaps }] })
  const postgres = {
    async query() {
      const seen = row()
      await state.hold
      return seen
    },
    listen(_channel: string, onNotify: () => void) {
      state.changed = onNotify
      return { close: async () => {} }
    },
  }
  // Settings use nothing else of it, and read no other column than they ask for.
  return { state, postgres: postgres as object as Postgres }
}

t.test('a change during a read is not taken for read', async (t) => {
  const { state, postgres } = oneProject()
  const settings = openProjectSettings(postgres, clock, log)
  let release = (): void => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  const first = settings.of(1)
  state.heatmaps = true
  state.changed()
  release()
  t.match((await first).decide, '"heatmaps":false')
  state.hold = Promise.resolve()
  await settings.of(1)
  await new Promise((resolve) => setImmediate(resolve))
  t.match((await settings.of(1)).decide, '"heatmaps":true')
  await settings.close()
})
