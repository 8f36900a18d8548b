// A database of somebody else's, and deliveries to it, for the tests of Postgres as a destination.

import type { Test } from 'tap'
import type { RunSubject } from '../../src/exports/delivery.ts'
import { postgresDestination } from '../../src/exports/postgres-destination.ts'
import { rowsOf } from '../support/cluster.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type PostgresFront, startPostgresFront } from '../support/postgres-front.ts'
import { config, never, outboundFor, subject } from './staged.ts'

export interface PostgresPlace {
  readonly connectionString: string
  readonly front: PostgresFront
  readonly sql: (text: string) => Promise<unknown[]>
}

/** A database that is empty, over TCP. */
export async function openPlace(t: Test, speaksTls = false): Promise<PostgresPlace> {
  const { connectionString } = await freshDatabase(t, true)
  const front = await startPostgresFront(t, connectionString, speaksTls)
  return { connectionString, front, sql: (text) => rowsOf(connectionString, text) }
}

/** Opens a delivery there. */
export function openDeliveryTo(
  t: Test,
  { connectionString, front }: PostgresPlace,
  more: object = {},
  allow = '127.0.0.1',
  run: RunSubject = subject,
) {
  const database = /@\/(\w+)\?/.exec(connectionString)![1]
  const place = { user: 'spate', password: 'open sesame', host: 'localhost', port: front.port, database }
  const given = config('Postgres', { ...place, ...more })
  return postgresDestination.open(given, run, outboundFor(t, allow), never)
}
