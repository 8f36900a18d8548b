import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../src/identity/canonical-json.ts'
import { freshPostgres } from '../support/postgres.ts'

const digits = fc.nat(999_999).map(String)
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.option(digits, { nil: null }),
    fc.option(fc.integer({ min: -9, max: 9 }), { nil: null }),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
  )

t.test('jsonb gives back what was stored, and prints numbers the same way', async (t) => {
  const postgres = await freshPostgres(t, true)
  const throughJsonb = async (texts: readonly string[]): Promise<string[]> => {
    const sql =
      'select value::jsonb::text as value from unnest($1::text[]) with ordinality _(value, n) order by n'
    const { rows } = await postgres.query<{ value: string }>(sql, [texts])
    return rows.map(({ value }) => value)
  }
  const numbers = [
    '-0',
    '-0.0',
    '0e5',
    '5e-30',
    '1e31',
    '10.00e-2',
    ...fc.sample(number, { numRuns: 1000, seed: 1 }),
  ]
  t.same(numbers.map(canonicalJson), await throughJsonb(numbers))
  const values = [
    '"\\u0001\\u007f\\/"',
    ...fc.sample(fc.json(), { numRuns: 1000, seed: 1 }).filter((text) => !text.includes('\\u0000')),
  ]
  const stored = values.map(canonicalJson)
  t.same((await throughJsonb(stored)).map(canonicalJson), stored)
})
