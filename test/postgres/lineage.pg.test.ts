import t from 'tap'
import { claimLineage } from '../../src/postgres/lineage.ts'
import { freshPostgres } from '../support/postgres.ts'

const ours = '11111111-1111-4111-8111-111111111111'
const foreign = '22222222-2222-4222-8222-222222222222'

t.test('a database follows the journal that claimed it first, and no other', async (t) => {
  const postgres = await freshPostgres(t)
  await claimLineage(postgres, ours)
  await claimLineage(postgres, ours)
  await t.rejects(claimLineage(postgres, foreign), {
    code: 'lineage_foreign',
    detail: /DATA_DIR and DATABASE_URL/,
  })
  await claimLineage(postgres, ours)
})

t.test('of two journals that claim at the same time one gets the database', async (t) => {
  const postgres = await freshPostgres(t)
  const claims = await Promise.allSettled([claimLineage(postgres, ours), claimLineage(postgres, foreign)])
  t.same(claims.map((claim) => claim.status).sort(), ['fulfilled', 'rejected'])
})
