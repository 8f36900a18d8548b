// A filter on a property of a person or a group, ready to be asked.

import { type JsonObject, numberIn, textIn } from './json-value.ts'
import { compileMatcher } from './match.ts'
import { absent, type Circumstances, readProperty, unread } from './subject.ts'
import { type Check, opposite, Truth, truthOf } from './truth.ts'

/** Returns the group type index that a filter or a condition names, or null for persons. */
export function groupTypeIndexIn(value: unknown): number | null {
  const index = value === null || value === undefined ? Number.NaN : numberIn(value)
  return Number.isInteger(index) && index >= 0 && index <= 4 ? index : null
}

/** Compiles filters, each once: the flags of a project ask for the same few things of a person. */
export class PropertyChecks {
  readonly #checks = new Map<string, Check<Circumstances>>()

  /** As `propertyCheck`. */
  of(filter: JsonObject, subjectIndex: number | null): Check<Circumstances> {
    const text = JSON.stringify([subjectIndex, filter])
    let check = this.#checks.get(text)
    if (check === undefined) {
      check = propertyCheck(filter, subjectIndex)
      this.#checks.set(text, check)
    }
    return check
  }
}

/**
 * Compiles `filter`. Its properties are those of the group of its own type, else of the `subjectIndex` of its
 * condition (null: the person). Without such a group nothing matches.
 */
export function propertyCheck(filter: JsonObject, subjectIndex: number | null): Check<Circumstances> {
  const key = textIn(filter.key)
  const { whenAbsent, matches } = compileMatcher(filter)
  const ownIndex = filter.type === 'group' ? groupTypeIndexIn(filter.group_type_index) : null
  const index = ownIndex ?? subjectIndex
  const check: Check<Circumstances> = (circumstances) => {
    const subject = index === null ? circumstances.person : circumstances.groups[index]
    if (subject === null || subject === undefined) return Truth.no
    const value = readProperty(subject, key)
    if (value === unread) return Truth.unread
    return truthOf(value === absent ? whenAbsent : matches(value, circumstances))
  }
  return filter.negation === true ? (circumstances) => opposite(check(circumstances)) : check
}
