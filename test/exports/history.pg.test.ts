// EXPORT_HISTORIES and EXPORT_HISTORY_SEED play more of them, or one again.

import t from 'tap'
import { playHistory } from './history.ts'
import { destinationsOf, Ledger } from './ledger.ts'
import { MortalPostgres } from './mortal-postgres.ts'
import { openExportsWorld } from './world.ts'

const histories = Number(process.env.EXPORT_HISTORIES ?? 3)
const firstSeed = Number(process.env.EXPORT_HISTORY_SEED ?? 1)

t.setTimeout(0)

t.test('what is stored arrives exactly once, whatever happens on the way', async (t) => {
  const ledgers = { files: new Ledger('files'), table: new Ledger('table'), stream: new Ledger('stream') }
  const mortals: MortalPostgres[] = []
  const world = await openExportsWorld(t, { destinations: destinationsOf(ledgers) }, (postgres) => {
    mortals.push(new MortalPostgres(postgres))
    return mortals[0]!
  })
  const [postgres] = mortals
  for (let seed = firstSeed; seed < firstSeed + histories; seed++)
    t.strictSame(await playHistory({ world, postgres: postgres!, ledgers }, seed), [], `history ${seed}`)
})
