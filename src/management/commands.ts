// Commands of the management API to the stores: each is appended to the journal, so that it has its place among the
// events and a replay repeats it.

import { setTimeout as delay } from 'node:timers/promises'
import { type Command, encodeCommand } from '../consumer/command.ts'
import type { Journal } from '../journal/journal.ts'
import type { Mirror } from '../mirror/mirror.ts'
import type { Persons } from '../persons/client.ts'

export interface Commands {
  /**
   * Resolves when the command is on disk and, if that does not take longer than `appliedMsMax`, when every read shows
   * what it has done. Errors: journal_full (nothing happens), journal_failed, stopping.
   */
  carryOut(command: Command): Promise<void>
}

interface CommandOptions {
  readonly journal: Pick<Journal, 'append'>
  readonly persons: Pick<Persons, 'waitUntilApplied'>
  readonly mirror: Pick<Mirror, 'waitUntilMirrored'>
  readonly appliedMsMax?: number
}

/**
 * Whoever reads after the answer should find it true, and a persons consumer that keeps up needs a few milliseconds.
 * One that is far behind, or without Postgres, must not hold the caller up: what is on disk will happen.
 */
const appliedMsDefault = 5_000

export function openCommands({
  journal,
  persons,
  mirror,
  appliedMsMax = appliedMsDefault,
}: CommandOptions): Commands {
  return {
    async carryOut(command) {
      const payload = encodeCommand(command)
      const part = { kind: 'command', payload, eventCount: 0, dedupKeys: null } as const
      const { end } = await journal.append('realtime', [part])
      const tooLate = new AbortController()
      const applied = persons.waitUntilApplied('realtime', end).then(() => mirror.waitUntilMirrored())
      const known = applied.catch(() => {}) // a server that stops applies it at its next start
      const ended = delay(appliedMsMax, undefined, { signal: tooLate.signal }).catch(() => {})
      await Promise.race([known, ended])
      tooLate.abort()
    },
  }
}
