import fc from 'fast-check'
import t from 'tap'
import {
  printMembers,
  quoteText,
  readElements,
  readMembers,
  unquote,
} from '../../src/identity/json-members.ts'

t.test('reads one level and leaves values as they were written', async (t) => {
  t.same(
    [
      ...readMembers(
        ' { "a" : 1.50 , "b\\u0041": [ "}" , {"x":"\\\\"} ] ,"c":"\\"","a":12345678901234567890} ',
      ),
    ],
    [
      ['a', '12345678901234567890'],
      ['bA', '[ "}" , {"x":"\\\\"} ]'],
      ['c', '"\\""'],
    ],
  )
  t.same([...readMembers('{}')], [])
  t.same([...readMembers('{"":null}')], [['', 'null']])
  t.same(readElements('[1, "a,]" ,{"b":[2]},true]'), ['1', '"a,]"', '{"b":[2]}', 'true'])
  t.same(readElements('[ ]'), [])
})

t.test('unquotes strings with and without escapes', async (t) => {
  t.equal(unquote('"plain"'), 'plain')
  t.equal(unquote('"a\\n\\u00fc"'), 'a\nü')
})

t.test('stops at text that does not end', async (t) => {
  t.throws(() => readMembers('{"a'), { message: 'assertion failed: a JSON string ends' })
  t.throws(() => readMembers('{"a":[1'), { message: 'assertion failed: a JSON object or array ends' })
})

t.test('reads and prints what JSON.parse would', async (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
      const members = readMembers(JSON.stringify(value, null, indent))
      t.strictSame(JSON.parse(printMembers(members)), JSON.parse(JSON.stringify(value)))
      return [...members].every(([key, text]) => key in value && JSON.parse(text) !== undefined)
    }),
    { numRuns: 300 },
  )
})

t.test('quotes as JSON.stringify does', async (t) => {
  for (const text of ['', 'plain $key', 'a"b', 'a\\b', 'a\nb', 'ü😀', '\u007f', '[]']) {
    t.equal(quoteText(text), JSON.stringify(text))
  }
})
