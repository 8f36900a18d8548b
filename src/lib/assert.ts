// Programmer errors. An assertion that fails is a bug in Spate, never a bad input: it is not caught and not retried.

/** Throws when `condition` is false. `message` states the fact that should have held. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** Ends a switch over a closed union: the compiler proves that it is never reached. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected ${JSON.stringify(value)}`)
}
