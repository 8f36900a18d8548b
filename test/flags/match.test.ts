// Every operator against what is missing, null, a number, a string and a list; then the published vectors (C).

import t from 'tap'
import { Effort } from '../../src/flags/effort.ts'
import { compileMatcher } from '../../src/flags/match.ts'

const nowMs = Date.UTC(2024, 4, 1, 12)

/** Whether a person with that property matches; `value` undefined: without it. */
function matches(operator: string, wanted: unknown, value: unknown, now = nowMs): boolean {
  const matcher = compileMatcher({ key: 'k', operator, value: wanted })
  return value === undefined
    ? matcher.whenAbsent
    : matcher.matches(value, { nowMs: now, effort: new Effort() })
}

/** T or F for: missing, null, 3, '3', 'Three', ['3'], true. */
function row(operator: string, wanted: unknown): string {
  const values = [undefined, null, 3, '3', 'Three', ['3'], true]
  return values.map((value) => (matches(operator, wanted, value) ? 'T' : 'F')).join('')
}

t.test('each operator answers for every type of value', async (t) => {
  const rows: [operator: string, wanted: unknown, expected: string][] = [
    ['exact', '3', 'FFTTFFF'],
    ['exact', 3, 'FFTTFFF'],
    ['exact', ['3', 'three'], 'FFTTTFF'],
    ['exact', [], 'FFFFFFF'],
    ['exact', 'null', 'FTFFFFF'],
    ['exact', '["3"]', 'FFFFFTF'],
    ['exact', true, 'FFFFFFT'],
    ['exact', 'false', 'FTTTTTF'],
    ['is_not', '3', 'TTFFTTT'],
    ['is_not', ['3', 'three'], 'TTFFFTT'],
    ['is_set', 'is_set', 'FTTTTTT'],
    ['is_set', null, 'FTTTTTT'],
    ['is_not_set', null, 'TFFFFFF'],
    ['icontains', '3', 'FFTTFTF'],
    ['icontains', 'THREE', 'FFFFTFF'],
    ['icontains', 3, 'FFTTFTF'],
    ['not_icontains', '3', 'TTFFTFT'],
    ['starts_with', '3', 'FFTTFFF'],
    ['starts_with', 'TH', 'FFFFTFF'],
    ['not_starts_with', 'th', 'TTTTFTT'],
    ['ends_with', '3', 'FFTTFFF'],
    ['ends_with', 'REE', 'FFFFTFF'],
    ['not_ends_with', '3', 'TTFFTTT'],
    ['regex', '^3$', 'FFTTFFF'],
    ['regex', 3, 'FFTTFTF'],
    ['not_regex', '^3$', 'TTFFTTT'],
    ['gt', '2.5', 'FFTTFFF'],
    ['gt', 3, 'FFFFFFF'],
    ['gte', '3', 'FFTTFFF'],
    ['lt', '1e1', 'FFTTFFF'],
    ['lt', 3, 'FFFFFFF'],
    ['lte', '3', 'FFTTFFF'],
    ['lte', 'three', 'FFFFFFF'],
    ['lte', ['3'], 'FFFFFFF'],
    ['is_date_exact', '1970-01-01T00:00:03Z', 'FFTTFFF'],
    ['is_date_before', '1970-01-02', 'FFTTFFF'],
    ['is_date_after', '1960-01-01', 'FFTTFFF'],
    ['is_date_after', 5, 'FFFFFFF'],
    ['semver_eq', '3.0.0', 'FFTTFFF'],
    ['semver_gte', '2.9.9', 'FFTTFFF'],
    ['in', '3', 'FFFFFFF'],
    ['constructor', '3', 'FFFFFFF'],
    ['exact', null, 'FFFFFFF'],
    ['is_not', null, 'FFFFFFF'],
    ['regex', undefined, 'FFFFFFF'],
  ]
  for (const [operator, wanted, expected] of rows) {
    t.equal(row(operator, wanted), expected, `${operator} ${JSON.stringify(wanted)}`)
  }
})

t.test('without an operator it is exact', async (t) => {
  for (const operator of [undefined, null]) {
    const matcher = compileMatcher({ key: 'k', operator, value: 'a' })
    t.ok(matcher.matches('A', { nowMs, effort: new Effort() }))
    t.notOk(matcher.matches('b', { nowMs, effort: new Effort() }))
    t.notOk(matcher.whenAbsent)
  }
})

t.test('exact and is_not (C1 to C5)', async (t) => {
  t.ok(matches('exact', 'value', 'VALUE'))
  t.ok(matches('exact', ['value1', 'value2'], 'value2'))
  t.notOk(matches('exact', ['value1', 'value2'], 'value4'))
  t.notOk(matches('exact', 'value', undefined))
  t.ok(matches('is_not', 'value', undefined))
  t.ok(matches('exact', 1, '1'))
  t.ok(matches('exact', true, 'True'))
  t.ok(matches('exact', ['true'], true))
  t.ok(matches('exact', ['true', 'false'], false))
  t.notOk(matches('exact', 'false', 'TRUE'))
})

t.test('substrings (C6, C7, C21)', async (t) => {
  t.ok(matches('icontains', 'valUe', '343tfvalue5'))
  t.notOk(matches('icontains', 'valUe', 123))
  t.ok(matches('icontains', '3', 323))
  t.ok(matches('starts_with', '3', 323))
  t.notOk(matches('icontains', 'ä', 'Ä'), 'case is ASCII')
})

t.test('patterns (C8 to C10)', async (t) => {
  t.ok(matches('regex', '\\.com$', 'value.com'))
  t.notOk(matches('regex', '\\.com$', '.com343tfvalue5'))
  t.notOk(matches('regex', '?*', 'value'))
  t.notOk(matches('not_regex', '?*', 'value'))
  t.ok(matches('not_regex', '?*', undefined))
  t.ok(matches('regex', '4', 4))
})

t.test('numbers (C11 to C14)', async (t) => {
  t.ok(matches('gt', 1, '23'))
  t.notOk(matches('lt', '30', '100'))
  t.notOk(matches('gt', '123aloha', 129))
  t.notOk(matches('lte', '43', 44))
  for (const text of ['', ' 3', '0x10', 'Infinity', 'NaN', '1_000']) t.notOk(matches('gt', -1, text), text)
  for (const text of ['+3', '.5', '5.', '1E3']) t.ok(matches('gt', 0, text), text)
})

t.test('dates (C15 to C17)', async (t) => {
  t.ok(matches('is_date_before', '2022-05-01', '2022-04-30'))
  t.notOk(matches('is_date_before', '2022-05-01', '2022-05-30'))
  t.ok(matches('is_date_before', '2022-04-05 12:34:12 +01:00', '2022-04-05 11:34:11 +00:00'))
  t.notOk(matches('is_date_before', '2022-04-05 12:34:12 +01:00', '2022-04-05 11:34:12 +00:00'))
  t.notOk(matches('is_date_after', '2022-05-01', 'abcdef'))
})

t.test('is_set is true of an empty string (C20)', async (t) => {
  t.ok(matches('is_set', null, ''))
})

t.test('a caret promises what the left-most part does (C22)', async (t) => {
  t.ok(matches('semver_caret', '1.2.3', '1.9.0'))
  t.notOk(matches('semver_caret', '1.2.3', '2.0.0'))
})

// Were any of it quadratic, this would not end.
t.test('long texts cost no more than their length', async (t) => {
  const digits = `${'1'.repeat(1_000_000)}x`
  for (const operator of ['exact', 'icontains', 'regex', 'gt', 'is_date_before', 'semver_gt']) {
    t.notOk(matches(operator, '(1+)+y', digits), operator)
  }
})
