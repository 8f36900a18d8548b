// Regular expressions of filters. They are written by customers and matched against what anybody sends, so they run on
// an engine whose time is linear in the text: V8's own took 18 s over 28 characters. The time is also linear in the
// compiled pattern, hence the limits, and what effort.ts allows of both together.

import { RE2JS } from 're2js'

export type Found = 'found' | 'absent' | 'unsearched'

export interface Pattern {
  /** Instructions: a search takes so many steps for each character, at worst. */
  readonly programSize: number
  /** Searches anywhere in a text. */
  search(text: string): Found
}

const patternLengthMax = 1024
/** Instructions: `.{1000}` has a thousand. */
const programSizeMax = 2048
/** Characters. */
const textLengthMax = 8192

/** Returns null when `pattern` is not valid or too large. */
export function compilePattern(pattern: string): Pattern | null {
  if (pattern.length > patternLengthMax) return null
  try {
    const compiled = RE2JS.compile(pattern)
    const programSize = compiled.programSize()
    if (programSize > programSizeMax) return null
    return {
      programSize,
      search(text) {
        if (text.length > textLengthMax) return 'unsearched'
        return compiled.matcher(text).find() ? 'found' : 'absent'
      },
    }
  } catch {
    return null // a pattern that cannot be compiled is no error of whoever is evaluated
  }
}
