// What a person has seen: digests (person-digest.ts) of the last three events that would change nothing about its row
// if they came again. Three is what visitors say in turn: their pages, who they are, where they came from. In a
// simulation of the bench's visitors, 1.7 % of whose events change their person, 6.1 % are folded over it with two
// digests, 3.6 % with three, and 2.1 % with what is kept through sets.

import { isQuiet } from '../capture/person-digest.ts'

/** The latest first; 0 where there is none. */
export interface Seen {
  readonly last: number
  readonly before: number
  readonly earlier: number
}

export const nothingSeen: Seen = { last: 0, before: 0, earlier: 0 }

/** Whether an event with this digest was seen. */
export function hasSeen({ last, before, earlier }: Seen, digest: number): boolean {
  return digest === last || digest === before || digest === earlier
}

/** What was seen, and an event with this digest as well. */
export function withSeen(seen: Seen, digest: number): Seen {
  if (hasSeen(seen, digest)) return seen
  return { last: digest, before: seen.last, earlier: seen.before }
}

/**
 * What still changes nothing after properties were set, and none removed. An event that says only what is suppressed
 * asked for nothing since the person had all these properties, and it has them still.
 */
export function seenBeforeSet({ last, before, earlier }: Seen): Seen {
  const [first = 0, second = 0, third = 0] = [last, before, earlier].filter(isQuiet)
  return { last: first, before: second, earlier: third }
}
