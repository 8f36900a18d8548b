// How soon events can be read: from the moment a server had the whole request to the moment the transaction that holds
// its events was about to commit. Both are in the store itself, so that it is known for every event.

import { wallMsAt } from './clock.ts'
import { readEventsFile } from './events-file.ts'

export interface Freshness {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly maxMs: number
}

/** Of the events received between two moments of `machineMs`; null when there are none. The server has ended. */
export async function readFreshness(
  dataDir: string,
  span: { readonly fromMs: number; readonly toMs: number },
): Promise<Freshness | null> {
  return await readEventsFile(dataDir, async (connection) => {
    const read = await connection.runAndReadAll(
      `select quantile_cont(age, [0.5, 0.95, 1.0]) from (
         select epoch_ms(progress.applied_at) - epoch_ms(received_at) as age
         from event asof join progress on event.lane = progress.lane and event.position < progress.position
         where epoch_ms(received_at) between $from and $to)`,
      { from: wallMsAt(span.fromMs), to: wallMsAt(span.toMs) },
    )
    const ages = read.getRowsJson()[0]?.[0]
    if (!Array.isArray(ages)) return null
    const [p50Ms, p95Ms, maxMs] = ages.map(Number)
    return { p50Ms: p50Ms!, p95Ms: p95Ms!, maxMs: maxMs! } // three quantiles were asked for
  })
}
