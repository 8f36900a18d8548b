// What Spate takes of the machine it runs on, unless the configuration says how much.

import { availableParallelism, totalmem } from 'node:os'
import type { Config } from './config.ts'

const GiB = 1024 ** 3

/** Decode threads: DECODE_THREADS, or one less than the cores and at least 1. */
export function decodeThreadCount(config: Config): number {
  return config.decodeThreads || Math.max(1, availableParallelism() - 1)
}

/**
 * Threads for DuckDB: DUCKDB_THREADS, or half of the cores and at least 1. Who waits for a statement that another
 * thread works on spins: on one core two threads made an event cost about 4 µs more than one.
 */
export function duckdbThreadCount(config: Config): number {
  return config.duckdbThreads || Math.max(1, Math.floor(availableParallelism() / 2))
}

/** Memory limit for DuckDB in bytes: DUCKDB_MEMORY_LIMIT, or a quarter of RAM up to 1 GiB. */
export function duckdbMemoryLimitBytes(config: Config): number {
  return config.duckdbMemoryBytes || Math.min(Math.floor(totalmem() / 4), GiB)
}
