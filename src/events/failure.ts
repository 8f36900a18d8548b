// What an error means for the step it broke. DuckDB's client library passes on the message alone; its first words
// name the kind.

/**
 * - fatal: DuckDB's instance is invalidated; the process must end, and its next start recovers.
 * - poison: the values cannot be stored; if that repeats on one event alone, the event is at fault.
 * - transient: memory, disk or an interrupt; the same work may succeed later, in smaller pieces.
 * - bug: anything else. Trying again would not help, and going on would skip something.
 */
export type Failure = 'fatal' | 'poison' | 'transient' | 'bug'

const fatal = /^(FATAL|INTERNAL) Error|database has been invalidated/i
const poison = /^(Conversion|Invalid Input|Out of Range|Constraint|Parser) Error/
const ofDuckdb = /^[A-Z][\w ]* Error: /

export function failureOf(error: unknown): Failure {
  const message = messageOf(error)
  if (fatal.test(message)) return 'fatal'
  if (poison.test(message)) return 'poison'
  const isOfSystem = error instanceof Error && 'syscall' in error
  return isOfSystem || ofDuckdb.test(message) ? 'transient' : 'bug'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The first line of an error's message, at most `lengthMax` characters: fit for a log line or a reason. */
export function shortMessage(error: unknown, lengthMax = 300): string {
  const line = messageOf(error).split('\n', 1)[0] ?? ''
  return line.length > lengthMax ? `${line.slice(0, lengthMax)}…` : line
}
