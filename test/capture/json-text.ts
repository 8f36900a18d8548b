// Arbitrary JSON as text rather than as values: with every way to spell a string, keys that come twice, numbers that
// no double holds, and white space where it may stand.

import fc from 'fast-check'

const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r ')

const character = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'abcXYZ019 $_-./') },
  { weight: 2, arbitrary: fc.constantFrom('é', '漢', '😀', '\u007f', '\u2028', '\ufeff', '\ufffd') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '\\n',
      '\\"',
      '\\\\',
      '\\/',
      '\\b',
      '\\f',
      '\\r',
      '\\t',
      '\\u0041',
      '\\u00e9',
      '\\u001e',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\\ud83d\\ude00',
      '\\uD800',
      '\\uDbff',
      '\\udc00',
      '\\udfff',
      '\\u0000',
      '\\ufffd',
    ),
  },
)

/** A string with its quotes. */
export const stringText: fc.Arbitrary<string> = fc
  .array(character, { maxLength: 12 })
  .map((characters) => `"${characters.join('')}"`)

export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('0', '-0', '1.10', '1e400', '-1E-400', '12345678901234567890', '0.1e+5', '1e5'),
  fc.integer().map(String),
)

const bareText = fc.oneof(numberText, fc.constantFrom('true', 'false', 'null'))

/** Keys that objects treat specially, or that may meet each other once repaired. */
const keyText = fc.oneof(
  { weight: 3, arbitrary: stringText },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"__proto__"',
      '"constructor"',
      '"0"',
      '"a"',
      '"\\u0061"',
      '"a\\u0000"',
      '"a\\ud800"',
      '""',
    ),
  },
)

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    bareText,
    stringText,
    fc.tuple(space, fc.array(tie('value'), { maxLength: 4 })).map(([gap, members]) => listText(members, gap)),
    fc
      .tuple(space, fc.array(fc.tuple(keyText, tie('value')), { maxLength: 4 }))
      .map(([gap, entries]) => objectText(entries, gap)),
  ),
}))

/** A value of any kind. */
export const valueText: fc.Arbitrary<string> = value

/** An object with arbitrary keys, some of them twice. */
export const anyObjectText: fc.Arbitrary<string> = fc
  .tuple(space, fc.array(fc.tuple(keyText, valueText), { maxLength: 5 }))
  .map(([gap, entries]) => objectText(entries, gap))

/** A value with white space around it. */
export const jsonText: fc.Arbitrary<string> = fc
  .tuple(space, valueText, space)
  .map(([before, text, after]) => `${before}${text}${after}`)

/** An object with the given entries, key texts and value texts, `gap` standing wherever white space may. */
export function objectText(entries: readonly (readonly [string, string])[], gap = ''): string {
  return `{${gap}${entries.map(([key, text]) => `${key}${gap}:${gap}${text}`).join(`${gap},${gap}`)}${gap}}`
}

export function listText(members: readonly string[], gap = ''): string {
  return `[${gap}${members.join(`${gap},${gap}`)}${gap}]`
}

/** What JSON.parse says of `text`. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
