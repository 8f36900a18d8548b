// Regular expressions of filters. They are written by customers and matched against what anybody sends, so they run on
// an engine whose time is linear in the text: V8's own took 18 s over 28 characters. The time is also linear in the
// compiled pattern, hence the limits: together they allow 16 million steps.

import { RE2JS } from 're2js'

export type Found = 'found' | 'absent' | 'unsearched'

const patternLengthMax = 1024
/** Instructions: `.{1000}` has a thousand. */
const programSizeMax = 2048
/** Characters. */
const textLengthMax = 8192

/** Returns the search for `pattern` anywhere in a text, or null when it is not valid or too large. */
export function compilePattern(pattern: string): ((text: string) => Found) | null {
  if (pattern.length > patternLengthMax) return null
  try {
    const compiled = RE2JS.compile(pattern)
    if (compiled.programSize() > programSizeMax) return null
    return (text) => {
      if (text.length > textLengthMax) return 'unsearched'
      return compiled.matcher(text).find() ? 'found' : 'absent'
    }
  } catch {
    return null // a pattern that cannot be compiled is no error of whoever is evaluated
  }
}
