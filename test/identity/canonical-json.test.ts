import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../src/identity/canonical-json.ts'

t.test('prints numbers with all their digits, as Postgres does', async (t) => {
  const spellings: [string, string][] = [
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0.0'],
    ['1.50', '1.50'],
    ['1e2', '100'],
    ['1.5e1', '15'],
    ['1.50e1', '15.0'],
    ['-2.5E+3', '-2500'],
    ['1e-5', '0.00001'],
    ['12345678901234567890', '12345678901234567890'],
    ['0.30000000000000004', '0.30000000000000004'],
  ]
  for (const [sent, stored] of spellings) t.equal(canonicalJson(sent), stored, sent)
})

t.test('makes a string of a number that prints longer than 32 characters', async (t) => {
  t.equal(canonicalJson('1e31'), '10000000000000000000000000000000')
  t.equal(canonicalJson('1e32'), '"1e32"')
  t.equal(canonicalJson('-1e31'), '"-1e31"')
  t.equal(canonicalJson('1e999999999'), '"1e999999999"')
  t.equal(canonicalJson('1e-400'), '"1e-400"')
  t.equal(canonicalJson(`${'1'.repeat(32)}`), '1'.repeat(32))
  t.equal(canonicalJson(`${'1'.repeat(33)}`), `"${'1'.repeat(33)}"`)
  t.equal(canonicalJson('{"deep":[1e400]}'), '{"deep":["1e400"]}')
})

t.test('writes strings without needless escapes and objects in one order', async (t) => {
  t.equal(canonicalJson('"\\u00fc\\/\\n\\u0001"'), '"ü/\\n\\u0001"')
  t.equal(canonicalJson('{ "b" : 1, "a" : [ true , null ], "b": 2 }'), '{"a":[true,null],"b":2}')
  t.equal(canonicalJson('"plain"'), '"plain"')
})

t.test('means the same and never changes twice', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const once = canonicalJson(JSON.stringify(value))
      t.equal(canonicalJson(once), once)
      return canonicalJson(JSON.stringify(value, null, 1)) === once
    }),
    { numRuns: 300 },
  )
})
