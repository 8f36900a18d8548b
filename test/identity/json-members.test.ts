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

t.test('reads keys in any order, whatever was read before', async (t) => {
  const texts = ['{"a":1,"b":2}', '{"b":3,"a":4}', '{ "a" : 5 ,"ab":6}', '{"a" : 7}', '{"ab":8,"a":9,"ab":0}']
  for (const text of [...texts, ...texts.reverse()])
    t.strictSame(Object.fromEntries(readMembers(text)), readByPlainParser(text))
  const strange = ['__proto__', '10', '2', '', ' ', 'a":1,"b', '\\', 'a\nb', 'ü'.repeat(150)]
  const text = JSON.stringify(Object.fromEntries(strange.map((key, index) => [`${key} `, index])))
  for (let times = 0; times < 2; times++)
    t.same(
      [...readMembers(text)],
      [...strange.entries()].map(([index, key]) => [`${key} `, String(index)]),
    )
  t.same([...readMembers('{"__proto__":1}').keys()], ['__proto__'])
})

t.test('reads more different keys than it remembers', async (t) => {
  const keys = Array.from({ length: 2_500 }, (_, index) => `key ${index}`)
  const text = JSON.stringify(Object.fromEntries(keys.map((key) => [key, key])))
  for (let times = 0; times < 3; times++) {
    t.same([...readMembers(text).keys()], keys)
    t.same([...readMembers('{"key 7":1,"key 2400":2,"x":3}').keys()], ['key 7', 'key 2400', 'x'])
  }
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

/** Values are numbers. */
function readByPlainParser(text: string): Record<string, string> {
  return Object.fromEntries(Object.entries(JSON.parse(text)).map(([key, value]) => [key, String(value)]))
}
