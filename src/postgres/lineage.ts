// Which journal the database continues. Persons, offsets and overrides in Postgres make sense only beside the journal
// they were made from, so the database remembers that journal's epoch and Spate refuses to mix two.

import { ServiceError } from '../errors.ts'
import type { Postgres } from './pool.ts'

/**
 * Ties the database to the journal `epoch` at the first call; later calls check that it is the same one.
 * Errors: lineage_foreign, postgres_unavailable.
 */
export async function claimLineage(postgres: Postgres, epoch: string): Promise<void> {
  await postgres.query('insert into journal_lineage (epoch) values ($1) on conflict do nothing', [epoch])
  const { rows } = await postgres.query<{ epoch: string }>('select epoch from journal_lineage')
  const stored = rows[0]?.epoch
  if (stored === epoch) return
  const detail =
    `the database belongs to journal ${stored}, DATA_DIR holds journal ${epoch}; ` +
    'set DATA_DIR and DATABASE_URL to a pair that belongs together, restore both from one backup, ' +
    'or start with both empty'
  throw new ServiceError('lineage_foreign', { detail })
}
