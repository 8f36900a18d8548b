// One property filter as a test. Filters are compiled once for each change of a definition, so that an evaluation
// neither parses nor compares operator names.

import { compares, equalsAny, holds, textForm } from './comparison.ts'
import { type Effort, stepsPerCharacter } from './effort.ts'
import type { JsonObject } from './json-value.ts'
import { comparesMoments } from './moment.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { comparesVersions, type SemverOperator } from './semver.ts'

export interface Matcher {
  /** Whether a person without the property matches. */
  readonly whenAbsent: boolean
  /** Whether a person with this value of it matches. */
  readonly matches: (value: unknown, when: Occasion) => boolean
}

/** When a value is looked at, and what that may still cost. */
export interface Occasion {
  readonly nowMs: number
  readonly effort: Effort
}

type Test = (value: unknown, nowMs: number) => boolean

/** Matches nobody: an operator that is not known, or that lacks the value it needs. */
const nobody: Matcher = { whenAbsent: false, matches: () => false }

const positive = (matches: Test): Matcher => ({
  whenAbsent: false,
  matches: (value, { nowMs, effort }) => isAllowed(value, effort) && matches(value, nowMs),
})
const negative = (matches: Test): Matcher => ({
  whenAbsent: true,
  matches: (value, { nowMs, effort }) => isAllowed(value, effort) && !matches(value, nowMs),
})

/** Builds the matcher of `operator` for the filter's value. */
const byOperator: Readonly<Record<string, (wanted: unknown) => Matcher>> = {
  __proto__: null as never, // makes `constructor` and its like unknown operators; no value is ever read from it
  exact: (wanted) => positive(equalsAny(wanted)),
  is_not: (wanted) => negative(equalsAny(wanted)),
  icontains: (wanted) => positive(holds(wanted, 'includes')),
  not_icontains: (wanted) => negative(holds(wanted, 'includes')),
  starts_with: (wanted) => positive(holds(wanted, 'startsWith')),
  not_starts_with: (wanted) => negative(holds(wanted, 'startsWith')),
  ends_with: (wanted) => positive(holds(wanted, 'endsWith')),
  not_ends_with: (wanted) => negative(holds(wanted, 'endsWith')),
  regex: (wanted) => patternMatcher(wanted, false),
  not_regex: (wanted) => patternMatcher(wanted, true),
  gt: (wanted) => positive(compares(wanted, (value, limit) => value > limit)),
  gte: (wanted) => positive(compares(wanted, (value, limit) => value >= limit)),
  lt: (wanted) => positive(compares(wanted, (value, limit) => value < limit)),
  lte: (wanted) => positive(compares(wanted, (value, limit) => value <= limit)),
  is_date_exact: (wanted) => positive(comparesMoments(wanted, (value, limit) => value === limit)),
  is_date_before: (wanted) => positive(comparesMoments(wanted, (value, limit) => value < limit)),
  is_date_after: (wanted) => positive(comparesMoments(wanted, (value, limit) => value > limit)),
}

/** Compiles the operator and the value of `filter`; its key is the caller's. */
export function compileMatcher(filter: JsonObject): Matcher {
  const operator = typeof filter.operator === 'string' ? filter.operator : 'exact'
  if (operator === 'is_set') return { whenAbsent: false, matches: () => true }
  if (operator === 'is_not_set') return { whenAbsent: true, matches: () => false }
  const wanted = filter.value
  if (wanted === undefined || wanted === null) return nobody
  const semver = /^semver_(eq|neq|gt|gte|lt|lte|tilde|caret|wildcard)$/.exec(operator)
  // The pattern lists the operators of the type.
  if (semver) return positive(comparesVersions(wanted, semver[1] as SemverOperator))
  return byOperator[operator]?.(wanted) ?? nobody
}

/** What cannot be searched, for the pattern's sake or the text's, matches neither the pattern nor its negation. */
function patternMatcher(wanted: unknown, isNegated: boolean): Matcher {
  // Compiled when it is first asked: those of a whole project at once would be seconds.
  let pattern: Pattern | null | undefined
  return {
    whenAbsent: isNegated,
    matches(value, { effort }) {
      if (pattern === undefined) {
        pattern = compilePattern(textForm(wanted))
        effort.compiled(pattern?.programSize ?? 0)
      }
      if (pattern === null) return false
      const text = textForm(value)
      if (!effort.allows(text.length * pattern.programSize)) return false
      return pattern.search(text) === (isNegated ? 'absent' : 'found')
    },
  }
}

/** What is too much to compare matches neither a filter nor its negation. */
function isAllowed(value: unknown, effort: Effort): boolean {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return true
  return effort.allows(textForm(value).length * stepsPerCharacter)
}
