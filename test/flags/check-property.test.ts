import t from 'tap'
import { checkProperty, type FilterPlace } from '../../src/flags/check-property.ts'
import { faultOf } from './fault.ts'

const anywhere: FilterPlace = { path: 'f', types: ['person', 'cohort', 'flag'], groupTypeIndex: null }
const ofGroup: FilterPlace = { path: 'f', types: ['group', 'flag'], groupTypeIndex: 2 }

function fault(filter: unknown, place = anywhere): string | null {
  return faultOf(() => checkProperty(filter, place), 'filters')
}

const on = (operator: unknown, value: unknown) => ({ key: 'k', operator, value })

t.test('takes every operator with the values it can use', async (t) => {
  const accepted: [operator: unknown, values: unknown[]][] = [
    [undefined, ['a', 1, true, ['a', 2, false], []]],
    [null, ['a']],
    ['exact', ['a']],
    ['is_not', [['a', 'b']]],
    ['is_set', [undefined, null, 'is_set', ['x']]],
    ['is_not_set', [undefined]],
    ['icontains', ['a', 3]],
    ['not_icontains', ['a']],
    ['starts_with', ['a']],
    ['not_ends_with', ['a']],
    ['regex', ['^a.*b$', 4, '(?i)x', '\\d{3}']],
    ['not_regex', ['a|b']],
    ['gt', [1, '1', '-2.5e3', '.5']],
    ['lte', [0]],
    ['is_date_exact', ['2024-05-01']],
    ['is_date_before', ['2024-05-01T10:00:00Z', '-7d', '1y', '9999h']],
    ['is_date_after', ['2022-04-05 12:34:12 +01:00']],
    ['semver_eq', ['1.2.3', 'v1.2', '1', '0.0.0']],
    ['semver_caret', ['0.2.3-rc.1']],
    ['semver_wildcard', ['1.*', '1.2.*', '1.*.*']],
  ]
  for (const [operator, values] of accepted)
    for (const value of values)
      t.equal(fault(on(operator, value)), null, `${operator} ${JSON.stringify(value)}`)
})

t.test('refuses operators and values that would match nobody', async (t) => {
  const refused: [operator: unknown, value: unknown, detail: string][] = [
    ['equals', 'a', 'f.operator "equals" is not known'],
    ['constructor', 'a', 'f.operator "constructor" is not known'],
    [5, 'a', 'f.operator 5 is not known'],
    ['in', 'a', 'f.operator "in" is not known'],
    ['exact', undefined, 'f.value is missing'],
    ['exact', null, 'f.value is missing'],
    ['exact', { a: 1 }, 'f.value must be a string, a number, a boolean or a list of those'],
    ['exact', [['a']], 'f.value must be a string, a number, a boolean or a list of those'],
    ['icontains', ['a'], 'f.value must be one string, not ["a"]'],
    ['regex', '(', 'f.value must be a regular expression in RE2 syntax of moderate size, not "("'],
    ['regex', '(?=a)', 'f.value must be a regular expression in RE2 syntax of moderate size, not "(?=a)"'],
    ['not_regex', '?*', 'f.value must be a regular expression in RE2 syntax of moderate size, not "?*"'],
    ['gt', 'many', 'f.value must be a number, not "many"'],
    ['lt', [1], 'f.value must be a number, not [1]'],
    ['is_date_before', 'soon', 'f.value must be a date, or a distance into the past such as -7d, not "soon"'],
    [
      'is_date_after',
      '10000d',
      'f.value must be a date, or a distance into the past such as -7d, not "10000d"',
    ],
    ['is_date_after', 5, 'f.value must be a date, or a distance into the past such as -7d, not 5'],
    ['semver_gt', '1.02', 'f.value must be a version such as 1.2.3, not "1.02"'],
    ['semver_wildcard', '1.2', 'f.value must be a version such as 1.2.*, not "1.2"'],
    ['exact', Array.from({ length: 10_001 }, () => 1), 'f.value has more than 10000 entries'],
  ]
  for (const [operator, value, detail] of refused)
    t.equal(fault(on(operator, value)), `Filters are not valid: ${detail}.`)
  t.equal(
    fault(
      on(
        'exact',
        Array.from({ length: 10_000 }, () => 1),
      ),
    ),
    null,
  )
})

t.test('knows what each kind of filter is made of', async (t) => {
  const accepted: unknown[] = [
    { type: 'cohort', key: 'id', value: 7 },
    { type: 'cohort', key: 'id', value: '7', operator: 'not_in', negation: false },
    { type: 'cohort', value: 2_147_483_647, operator: null },
    { type: 'flag', key: '3', value: true, operator: 'flag_evaluates_to' },
    { type: 'flag', key: 3, value: 'variant', operator: 'flag_evaluates_to' },
    { type: null, key: 'a', value: 1 },
    { key: 'x'.repeat(400), value: 1 },
  ]
  for (const filter of accepted) t.equal(fault(filter), null, JSON.stringify(filter).slice(0, 100))
  const refused: [filter: unknown, detail: string][] = [
    [null, 'f must be an object'],
    [[], 'f must be an object'],
    [{ type: 'event', key: 'a', value: 1 }, 'f.type must be person or cohort or flag, not "event"'],
    [{ type: {}, key: 'a', value: 1 }, 'f.type must be person or cohort or flag, not {}'],
    [{ value: 1 }, 'f.key must be a string'],
    [{ key: '', value: 1 }, 'f.key must be a string'],
    [{ key: 'x'.repeat(401), value: 1 }, 'f.key is longer than 400 characters'],
    [{ key: 'a', value: 1, negation: 'no' }, 'f.negation must be a boolean'],
    [{ type: 'cohort', key: 'name', value: 7 }, 'f.key of a cohort must be "id"'],
    [{ type: 'cohort', key: 'id', value: 'pro' }, 'f.value must be the id of a cohort'],
    [{ type: 'cohort', key: 'id', value: 2_147_483_648 }, 'f.value must be the id of a cohort'],
    [{ type: 'cohort', key: 'id', value: [7] }, 'f.value must be the id of a cohort'],
    [{ type: 'cohort', key: 'id', value: 7, operator: 'gt' }, 'f.operator of a cohort must be in or not_in'],
    [
      { type: 'flag', key: 'beta', value: true, operator: 'flag_evaluates_to' },
      'f.key must be the id of a flag',
    ],
    [
      { type: 'flag', key: '3', value: true, operator: 'exact' },
      'f.operator of a flag must be flag_evaluates_to',
    ],
    [
      { type: 'flag', key: '3', value: 1, operator: 'flag_evaluates_to' },
      'f.value must be true, false or the key of a variant',
    ],
  ]
  for (const [filter, detail] of refused) t.equal(fault(filter), `Filters are not valid: ${detail}.`)
})

t.test('keeps a group filter to the group type of its flag', async (t) => {
  const filter = { type: 'group', key: 'plan', value: 'pro' }
  t.equal(fault(filter, ofGroup), null)
  t.equal(fault({ ...filter, group_type_index: 2 }, ofGroup), null)
  t.equal(
    fault({ ...filter, group_type_index: 1 }, ofGroup),
    "Filters are not valid: f.group_type_index must be 2, as its flag's or condition's.",
  )
  t.match(fault({ ...filter, type: 'person' }, ofGroup), 'f.type must be group or flag')
})
