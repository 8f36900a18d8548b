// A Postgres that is still starting. Capture does not wait for it: the server listens at once, and until the database
// is there everything that needs it fails with postgres_unavailable, as it does when the database goes away later.

import { ServiceError } from '../errors.ts'
import type { Listening } from './listener.ts'
import type { Postgres } from './pool.ts'

/** Wraps a Postgres that opens later. When opening fails, it stays unavailable; telling why is left to the opener. */
export function latePostgres(opening: Promise<Postgres>): Postgres {
  let opened: Postgres | null = null
  opening.then(
    (postgres) => {
      opened = postgres
    },
    () => {}, // the opener hears of it
  )
  const now = (): Postgres => {
    if (opened) return opened
    const detail = 'The database is not reachable: it is still starting.'
    throw new ServiceError('postgres_unavailable', { detail, retryAfterSeconds: 2 })
  }
  return {
    query: async (sql, params) => await now().query(sql, params),
    transaction: async (body) => await now().transaction(body),
    hold: async () => await now().hold(),
    listen(channel, onNotify) {
      if (opened) return opened.listen(channel, onNotify)
      return lateListening(opening, channel, onNotify)
    },
    close: async () => await opened?.close(),
  }
}

function lateListening(
  opening: Promise<Postgres>,
  channel: string,
  onNotify: (payload: string | null) => void,
): Listening {
  let isClosed = false
  let listening: Listening | null = null
  opening.then(
    (postgres) => {
      if (!isClosed) listening = postgres.listen(channel, onNotify)
    },
    () => {}, // the opener hears of it
  )
  return {
    async close() {
      isClosed = true
      await listening?.close()
    },
  }
}
