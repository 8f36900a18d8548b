// What the figures of a comparison are, and what we aim at: `ship` is the least, `goal` what we want.

export interface Target {
  readonly id: string
  readonly what: string
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly ship: number
  readonly goal: number
}

const more = (id: string, what: string, unit: string, ship: number, goal: number): Target => {
  return { id, what, unit, better: 'more', ship, goal }
}
const less = (id: string, what: string, unit: string, ship: number, goal: number): Target => {
  return { id, what, unit, better: 'less', ship, goal }
}

/** One core for the server and its Postgres, fsync on. */
export const targets: readonly Target[] = [
  more('w1', 'W1 single events, 64 connections', 'requests/s', 10_000, 18_000),
  more('w1-256', 'W1 single events, 256 connections', 'requests/s', 15_000, 25_000),
  less('w1-p99', 'W1 p99 at half load', 'ms', 15, 8),
  more('w2', 'W2 gzip batches of 20, acked', 'events/s', 30_000, 45_000),
  more('w3', 'W3 gzip batches of 1000, acked', 'events/s', 60_000, 100_000),
  more('w3-queryable', 'W3 durable and queryable', 'events/s', 35_000, 50_000),
  more('limit', 'W3 against DuckDB loading NDJSON, per CPU-s', 'ratio', 0.45, 0.65),
  more('w4', 'W4 historical bodies of 19 MB gzip, queryable', 'events/s', 35_000, 50_000),
  less('w4-rss', 'W4 peak RSS, gzip', 'MB', 1000, 700),
  more('w4-plain', 'W4 historical bodies of 19 MB plain, queryable', 'events/s', 35_000, 50_000),
  less('w4-plain-rss', 'W4 peak RSS, plain', 'MB', 1000, 700),
  more('w5', 'W5 lz64 batches of 20, acked', 'events/s', 12_000, 25_000),
  more('w5-single', 'W5 lz64 single events, acked', 'events/s', 5000, 8000),
  more('lz64', 'W5 decoder against lz-string', 'ratio', 3, 8),
  more('decide-10', 'W6 decide, 10 flags', 'answers/s', 12_000, 20_000),
  more('decide-100', 'W6 decide, 100 flags', 'answers/s', 4000, 8000),
  more('decide-1000', 'W6 decide, 1000 flags', 'answers/s', 600, 1500),
  less('decide-p99', 'W6 p99 at half load, 100 flags', 'ms', 8, 4),
  less('mixed-p99', 'W7 decide p99 while ingesting at 70 %', 'ms', 25, 10),
  more('w8', 'W8 10 % identity events, queryable against W3', 'ratio', 0.6, 0.85),
  more('w9', 'W9 10 % invalid events, queryable against W3', 'ratio', 0.8, 0.95),
  less('disk', 'bytes on disk after checkpoint (W3)', 'bytes/event', 250, 150),
  less('journal', 'bytes of journal (W3)', 'bytes/event', 1300, 1200),
  less('freshness', 'ack to visible, p95 at half load (W3)', 'ms', 3000, 1000),
]

export type Standing = 'goal' | 'ship' | 'below'

export function standingOf({ better, ship, goal }: Target, value: number): Standing {
  const reaches = (aim: number): boolean => (better === 'more' ? value >= aim : value <= aim)
  if (reaches(goal)) return 'goal'
  return reaches(ship) ? 'ship' : 'below'
}
