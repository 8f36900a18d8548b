import fc from 'fast-check'
import t from 'tap'
import { openScan, scanText, skipValue } from '../../src/capture/scan.ts'
import { isServiceError } from '../../src/errors.ts'
import { isJson, jsonText } from './json-text.ts'

/** The detail with which a text is refused, or null. */
function refusal(text: string | Uint8Array): string | null {
  try {
    scanText(openScan(new Uint8Array(Buffer.from(text)), true))
    return null
  } catch (error) {
    if (!isServiceError(error, 'payload_unparseable')) throw error
    return error.detail
  }
}

function repaired(text: string): string {
  const bytes = new Uint8Array(Buffer.from(text))
  scanText(openScan(bytes, true))
  return Buffer.from(bytes).toString()
}

t.test('accepts every JSON text', async () => {
  fc.assert(
    fc.property(jsonText, (text) => refusal(text) === null && isJson(text)),
    { numRuns: 3000 },
  )
})

t.test('accepts and refuses a damaged text as JSON.parse does', async () => {
  const piece = fc.constantFrom(
    ...'{}[]",:\\ \n\t\u0001tfnu0129.eE+-dDaé',
    'true',
    '\\u',
    '\\ud800',
    '1e',
    '""',
  )
  const damage = fc.tuple(fc.nat(), fc.nat(2), piece)
  fc.assert(
    fc.property(jsonText, fc.array(damage, { minLength: 1, maxLength: 3 }), (text, damages) => {
      let damaged = text
      for (const [place, length, inserted] of damages) {
        const at = place % (damaged.length + 1)
        damaged = damaged.slice(0, at) + inserted + damaged.slice(at + length)
      }
      // Half a character would not be UTF-8, which is refused before the scanner.
      damaged = Buffer.from(damaged).toString()
      return (refusal(damaged) === null) === isJson(damaged)
    }),
    { numRuns: 20_000 },
  )
})

t.test('refuses what only looks like JSON', async (t) => {
  const texts = ['', ' ', '{', '[', '[1,]', '{"a":1,}', '{,}', '[,1]', '{"a"}', '{"a":}', '{1:2}', "{'a':1}"]
  texts.push(
    '01',
    '1.',
    '.5',
    '-',
    '+1',
    '1e',
    '1e+',
    '0x10',
    'NaN',
    'Infinity',
    'undefined',
    'tru',
    'nul',
    'True',
  )
  texts.push(
    '"',
    '"\\',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"a\nb"',
    '"\u0000"',
    '[1 2]',
    '1 2',
    '{}{}',
    '[]]',
    '\ufeff1',
  )
  texts.push('{"a":[}', '[{]', '[[]', '{"a":{}', '// x\n1', '\u00a01', '\u000b1')
  for (const text of texts) t.equal(isJson(text), false, JSON.stringify(text))
  for (const text of texts) t.not(refusal(text), null, JSON.stringify(text))
})

t.test('names the byte at fault', async (t) => {
  t.equal(refusal('{"é":x}'), 'failed to parse request: expected a value at byte 6, where there is 0x78')
  t.equal(refusal('[1'), 'failed to parse request: expected more at byte 2, where the text ends')
  t.equal(refusal('"abc'), 'failed to parse request: expected a closing quote at byte 4, where the text ends')
  t.equal(
    refusal('[1}'),
    'failed to parse request: expected a comma or the end at byte 2, where there is 0x7d',
  )
})

t.test('takes ten million brackets without a stack', async (t) => {
  const depth = 10_000_000
  t.match(refusal('['.repeat(depth)), /at byte 10000000, where the text ends/)
  t.equal(refusal('['.repeat(depth) + ']'.repeat(depth)), null)
  t.match(refusal(`${'{"a":'.repeat(100_000)}1${'}'.repeat(99_999)}]`), /expected a comma or the end/)
})

t.test('tells how deep a value nests', async (t) => {
  const deepest = (text: string) => {
    const scan = openScan(new Uint8Array(Buffer.from(text)), true)
    skipValue(scan, 0, 1)
    return scan.deepest
  }
  t.equal(deepest('1'), 0)
  t.equal(deepest('[]'), 1)
  t.equal(deepest('{"a":[{},1]}'), 3)
  t.equal(deepest('[[[1],2],[3]]'), 3)
})

t.test('overwrites the escapes that no store can hold', async (t) => {
  t.equal(repaired('"a\\u0000b"'), '"a\\ufffdb"')
  t.equal(repaired('{"\\ud800":"\\uDFFF"}'), '{"\\ufffd":"\\ufffd"}')
  t.equal(repaired('"\\ud83d\\ude00"'), '"\\ud83d\\ude00"')
  t.equal(repaired('"\\ud83d\\ud83d\\ude00"'), '"\\ufffd\\ud83d\\ude00"')
  t.equal(repaired('"\\ud800\\udbff\\udc00\\ue000"'), '"\\ufffd\\udbff\\udc00\\ue000"')
  t.equal(repaired('"\\ude00\\ud83d"'), '"\\ufffd\\ufffd"')
  t.equal(repaired('"\\\\u0000\\ud83dx"'), '"\\\\u0000\\ufffdx"')
  t.equal(repaired('[[{"a":["\\u0000"]}]]'), '[[{"a":["\\ufffd"]}]]')
})

t.test('leaves the text alone when it is told to', async (t) => {
  const bytes = new Uint8Array(Buffer.from('"\\u0000\\ud800"'))
  scanText(openScan(bytes, false))
  t.equal(Buffer.from(bytes).toString(), '"\\u0000\\ud800"')
})
