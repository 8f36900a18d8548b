// Logs: one JSON line a record on stderr, or a readable line on a terminal. Never a body, never a key.

import { createRequire } from 'node:module'
import { type Logger, pino } from 'pino'
import type { PinoPretty } from 'pino-pretty'
import type { Config } from '../config.ts'
import { systemClock } from '../lib/clock.ts'

/** What a room may say. `fields` become keys of the line; an Error goes under `err`. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

/** Opens the log. Lines are written synchronously, so that the last words of a dying process arrive. */
export function openLog(config: Pick<Config, 'logLevel' | 'logFormat'>): Log {
  const options = {
    level: config.logLevel,
    base: null,
    timestamp: () => `,"time":"${new Date(systemClock.nowMs()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const isPretty = config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stderr.isTTY)
  if (isPretty) {
    // For terminals only, and a fifth of what a process loads that does nothing but watch over another.
    const pretty = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty // what the package exports
    return pino(options, pretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss' }))
  }
  return pino(options, pino.destination({ fd: 2, sync: true }))
}
