// Projects and requests at random, small enough that flags, cohorts and properties meet.

import fc from 'fast-check'
import type {
  CohortGroup,
  FlagCondition,
  FlagDefinition,
  ProjectDefinitions,
  PropertyFilter,
} from '../../src/flags/definition.ts'
import { definitionsOf, flag } from './make.ts'

const propertyKeys = ['a', 'b', 'c']
const flagIds = [1, 2, 3, 4, 5, 6]
const cohortIds = [1, 2, 3, 4, 5]

/** No booleans and no words for them, whose comparison is of its own. */
const value = fc.constantFrom<unknown>('x', 'X', 'xy', '1', 1, 20, null)

const propertyFilter: fc.Arbitrary<PropertyFilter> = fc.record({
  key: fc.constantFrom(...propertyKeys),
  value: fc.constantFrom('x', 'Y', 1, '20'),
  operator: fc.constantFrom(
    'exact',
    'is_not',
    'icontains',
    'not_icontains',
    'regex',
    'gt',
    'is_set',
    'is_not_set',
  ),
})
const cohortFilter = fc.record({
  key: fc.constant('id'),
  type: fc.constant('cohort' as const),
  value: fc.constantFrom(...cohortIds, 9),
  operator: fc.constantFrom('in', 'not_in'),
})
const flagFilter = fc.record({
  key: fc.constantFrom(...flagIds.map(String), '99'),
  type: fc.constant('flag' as const),
  value: fc.constantFrom<unknown>(true, false, 'one'),
  operator: fc.constant('flag_evaluates_to'),
})
const anyFilter = fc.oneof(
  { weight: 6, arbitrary: propertyFilter },
  { weight: 2, arbitrary: cohortFilter },
  { weight: 1, arbitrary: flagFilter },
)

const condition: fc.Arbitrary<FlagCondition> = fc.record({
  properties: fc.array(anyFilter, { maxLength: 3 }),
  rollout_percentage: fc.constantFrom(null, 0, 30, 70, 100),
  variant: fc.constantFrom(null, 'one', 'two', 'none'),
})
const variants = fc.constantFrom(
  null,
  { variants: [{ key: 'one', rollout_percentage: 50 }] },
  {
    variants: [
      { key: 'one', rollout_percentage: 33.3 },
      { key: 'two', rollout_percentage: 66.7 },
    ],
  },
)
const filters = fc.record({
  groups: fc.array(condition, { maxLength: 3 }),
  multivariate: variants,
  aggregation_group_type_index: fc.constantFrom(null, null, null, 0, 1),
  super_groups: fc.option(
    fc.array(fc.record({ properties: fc.array(propertyFilter, { maxLength: 2 }) }), { maxLength: 1 }),
  ),
  holdout: fc.option(
    fc.record({ id: fc.constantFrom(3), exclusion_percentage: fc.constantFrom(0, 12.5, 100) }),
    {
      freq: 1,
    },
  ),
  holdout_groups: fc.option(
    fc.array(
      fc.record({
        rollout_percentage: fc.constantFrom(10, 50),
        variant: fc.constantFrom(null, 'held', 'one'),
      }),
      {
        maxLength: 1,
      },
    ),
  ),
  early_exit: fc.boolean(),
})

function flagWith(id: number): fc.Arbitrary<FlagDefinition> {
  return fc
    .tuple(filters, fc.boolean(), fc.integer({ min: 0, max: 9 }))
    .map(([made, kept, luck]) =>
      flag(`flag-${id}`, made, { id, ensureExperienceContinuity: kept, active: luck > 0 }),
    )
}

const cohortLeaf: fc.Arbitrary<PropertyFilter> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(propertyFilter, fc.boolean()).map(([made, negation]) => ({ ...made, negation })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(cohortFilter, fc.boolean())
      .map(([made, negation]) => ({ ...made, operator: 'in', negation })),
  },
)
const cohortTree: fc.Arbitrary<CohortGroup> = fc.letrec<{ tree: CohortGroup }>((tie) => ({
  tree: fc.record({
    type: fc.constantFrom('AND' as const, 'OR' as const),
    values: fc.array(fc.oneof({ maxDepth: 3, withCrossShrink: true }, cohortLeaf, tie('tree')), {
      maxLength: 3,
    }),
  }),
})).tree

/** Cohort 5 is static. */
export const anyProject: fc.Arbitrary<ProjectDefinitions> = fc
  .tuple(fc.tuple(...flagIds.map(flagWith)), fc.array(cohortTree, { minLength: 4, maxLength: 4 }))
  .map(([flags, trees]) =>
    definitionsOf(flags, [
      ...trees.map((properties, index) => ({ id: index + 1, isStatic: false, properties })),
      { id: 5, isStatic: true, properties: null },
    ]),
  )

const properties = fc.dictionary(fc.constantFrom(...propertyKeys), value, { noNullPrototype: true })

export const anyAsked = fc.record({
  id: fc.constantFrom('', 'user1', 'user2', 'héllo'),
  given: properties,
  derived: properties,
  stored: properties,
  groups: fc.constantFrom(
    {},
    { 0: { id: 'acme', stored: { a: 'x' } } },
    { 0: { id: 'amazon' }, 1: { id: '7', given: { b: 1 } } },
  ),
  staticCohorts: fc.constantFrom<number[]>([], [5]),
  hashKeys: fc.constantFrom({}, { 'flag-1': 'before', 'flag-3': 'before' }),
})
