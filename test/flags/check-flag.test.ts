import t from 'tap'
import { checkFlagFilters } from '../../src/flags/check-flag.ts'
import type { JsonObject } from '../../src/flags/json-value.ts'
import { faultOf } from './fault.ts'

const fault = (filters: unknown): string | null =>
  faultOf(() => checkFlagFilters(filters as JsonObject), 'filters')

const property = { key: 'plan', value: 'pro', operator: 'exact', type: 'person' }
const onProperty = (filter: unknown, flag: object = {}) => ({ ...flag, groups: [{ properties: [filter] }] })
const split = (...percentages: unknown[]) => ({
  multivariate: {
    variants: percentages.map((rollout_percentage, index) => ({ key: `v${index}`, rollout_percentage })),
  },
})

t.test('takes what people define', async (t) => {
  const accepted: unknown[] = [
    {},
    { groups: null, multivariate: null, payloads: null, super_groups: null, holdout_groups: null },
    { groups: [] },
    { groups: [{}] },
    { groups: [{ properties: null, rollout_percentage: null, variant: null }] },
    { groups: [{ properties: [], rollout_percentage: 0 }, { rollout_percentage: 100 }] },
    { groups: [{ properties: [property], rollout_percentage: 33.3 }] },
    { groups: [{ properties: [{ key: 'id', value: 7, type: 'cohort' }] }] },
    {
      groups: [{ variant: 'v1' }],
      ...split(33.33, 33.33, 33.34),
      payloads: { v0: '{"a": 1}', v2: { a: 1 } },
    },
    { payloads: { true: '"text"' } },
    { payloads: { true: [1, null] } },
    { ...split(100), groups: [{ variant: '' }] },
    {
      aggregation_group_type_index: 4,
      groups: [{ properties: [{ ...property, type: 'group', group_type_index: 4 }] }],
    },
    { groups: [{ aggregation_group_type_index: 1, properties: [{ ...property, type: 'group' }] }] },
    {
      super_groups: [
        { properties: [{ key: '$feature_enrollment/x', value: ['true'] }], rollout_percentage: 100 },
      ],
    },
    { holdout_groups: [{ rollout_percentage: 10, variant: 'holdout-1' }], early_exit: true },
    { groups: Array.from({ length: 200 }, () => ({})) },
    { groups: [{ properties: Array.from({ length: 100 }, () => property) }] },
    split(...Array.from({ length: 100 }, () => 1)),
  ]
  for (const filters of accepted) t.equal(fault(filters), null, JSON.stringify(filters).slice(0, 200))
})

t.test('refuses what could never match, saying where', async (t) => {
  const refused: [filters: unknown, detail: string][] = [
    [{ groups: {} }, 'groups must be a list'],
    [{ groups: [1] }, 'groups[0] must be an object'],
    [{ super_groups: 'x' }, 'super_groups must be a list'],
    [
      { groups: [{}, { rollout_percentage: 100.1 }] },
      'groups[1].rollout_percentage must be a number from 0 to 100, or null',
    ],
    [
      { groups: [{ rollout_percentage: -1 }] },
      'groups[0].rollout_percentage must be a number from 0 to 100, or null',
    ],
    [
      { groups: [{ rollout_percentage: '50' }] },
      'groups[0].rollout_percentage must be a number from 0 to 100, or null',
    ],
    [{ groups: [{ properties: {} }] }, 'groups[0].properties must be a list'],
    [{ groups: [{ variant: 'v0' }] }, 'groups[0].variant does not exist in multivariate variants'],
    [
      { ...split(100), groups: [{ variant: 'v1' }] },
      'groups[0].variant does not exist in multivariate variants',
    ],
    [split(50, 49), 'variant rollout percentages must sum to 100'],
    [split(50, 50.1), 'variant rollout percentages must sum to 100'],
    [split(50, undefined), 'variant rollout percentages must sum to 100'],
    [split(150, -50), 'multivariate.variants[0].rollout_percentage must be a number from 0 to 100, or null'],
    [{ multivariate: [] }, 'multivariate must be an object with a list of variants'],
    [{ multivariate: { variants: {} } }, 'multivariate must be an object with a list of variants'],
    [
      { multivariate: { variants: [{ rollout_percentage: 100 }] } },
      'multivariate.variants[0].key must be a string of 1 to 400 characters',
    ],
    [
      {
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 50 },
            { key: 'a', rollout_percentage: 50 },
          ],
        },
      },
      `multivariate.variants[1].key is another variant's`,
    ],
    [{ payloads: [] }, 'payloads must be an object'],
    [{ payloads: { on: '1' } }, 'payload keys must be "true" for boolean flags'],
    [
      { payloads: { true: '1' }, ...split(100) },
      'payload keys must match a variant key for multivariate flags',
    ],
    [{ payloads: { true: '{' } }, 'the payload of "true" is not valid JSON'],
    [{ payloads: { true: '' } }, 'the payload of "true" is not valid JSON'],
    [
      { aggregation_group_type_index: 5 },
      'aggregation_group_type_index must be an integer from 0 to 4, or null',
    ],
    [
      { aggregation_group_type_index: '1' },
      'aggregation_group_type_index must be an integer from 0 to 4, or null',
    ],
    [
      { groups: [{ aggregation_group_type_index: 1.5 }] },
      'groups[0].aggregation_group_type_index must be an integer from 0 to 4, or null',
    ],
    [
      onProperty(property, { aggregation_group_type_index: 0 }),
      'groups[0].properties[0].type must be group or flag, not "person"',
    ],
    [
      onProperty({ ...property, type: 'group' }),
      'groups[0].properties[0].type must be person or cohort or flag, not "group"',
    ],
    [{ early_exit: 'yes' }, 'early_exit must be a boolean'],
    [{ groups: Array.from({ length: 201 }, () => ({})) }, 'groups has more than 200 entries'],
    [
      { groups: [{ properties: Array.from({ length: 101 }, () => property) }] },
      'groups[0].properties has more than 100 entries',
    ],
    [split(...Array.from({ length: 101 }, () => 1)), 'multivariate.variants has more than 100 entries'],
  ]
  for (const [filters, detail] of refused) t.equal(fault(filters), `Filters are not valid: ${detail}.`)
})
