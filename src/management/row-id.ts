// Ids of rows in paths: integers, as Postgres counts them.

import { ServiceError } from '../errors.ts'

/** Largest Postgres integer. */
const idMax = 2_147_483_647

/** The id that a path names. Errors: not_found for what can be nobody's. */
export function idOf(param: string | undefined): number {
  const id = /^\d{1,10}$/.test(param ?? '') ? Number(param) : Number.NaN
  if (id >= 1 && id <= idMax) return id
  throw new ServiceError('not_found')
}
