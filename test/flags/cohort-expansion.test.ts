import t from 'tap'
import { withCohortExpanded } from '../../src/flags/cohort-expansion.ts'
import type { CohortDefinition, CohortGroup } from '../../src/flags/definition.ts'

const pro = { key: 'plan', value: 'pro', type: 'person' as const }
const eu = { key: 'region', value: 'eu', type: 'person' as const }
const us = { key: 'region', value: 'us', type: 'person' as const }
const cohort = (value: number) => ({ key: 'id', value, type: 'cohort' as const })
const and = (...values: NonNullable<CohortGroup['values']>): CohortGroup => ({ type: 'AND', values })
const or = (...values: NonNullable<CohortGroup['values']>): CohortGroup => ({ type: 'OR', values })

function cohorts(properties: CohortGroup | null, isStatic = false): Map<number, CohortDefinition> {
  return new Map([[7, { id: 7, isStatic, properties }]])
}

t.test('writes a cohort out where the flag is about nothing else, at the same place', async (t) => {
  const before = { rollout_percentage: 5, properties: [us] }
  const condition = { rollout_percentage: 30, variant: 'a', properties: [cohort(7)] }
  const after = { properties: [] }
  const filters = { groups: [before, condition, after], payloads: { true: '1' } }
  const expanded = (tree: CohortGroup) => withCohortExpanded(filters, cohorts(tree)).groups?.slice(1, -1)
  const made = (...lists: object[][]) => lists.map((properties) => ({ ...condition, properties }))
  t.same(expanded(and(pro)), made([pro]))
  t.same(expanded(and(pro, eu)), made([pro, eu]))
  t.same(expanded(or(pro, eu)), made([pro], [eu]))
  t.same(expanded(or(and(pro, eu), and(us))), made([pro, eu], [us]))
  t.same(expanded(and(or(and(pro)), or(eu))), made([pro, eu]), 'groups of one are no groups')
  const whole = withCohortExpanded(filters, cohorts(and(pro)))
  t.same([whole.groups?.at(0), whole.groups?.at(-1), whole.payloads], [before, after, { true: '1' }])
})

t.test('leaves filters as they are where that would say something else', async (t) => {
  const flag = (...properties: object[]) => ({ groups: [{ properties }] })
  const tree = cohorts(and(pro))
  const kept: [filters: object, cohorts: ReadonlyMap<number, CohortDefinition>][] = [
    [flag(pro), tree],
    [flag(cohort(7), pro), tree],
    [flag({ ...cohort(7), operator: 'not_in' }), tree],
    [flag({ ...cohort(7), negation: true }), tree],
    [flag(cohort(8)), tree],
    [{ groups: [{ properties: [cohort(7)] }, { properties: [cohort(8)] }] }, tree],
    [flag(cohort(7)), cohorts(and({ ...pro, negation: true }))],
    [flag(cohort(7)), cohorts(and(pro, cohort(9)))],
    [flag(cohort(7)), cohorts(and(or(pro, eu), us))],
    [flag(cohort(7)), cohorts(and())],
    [flag(cohort(7)), cohorts(or(and()))],
    [flag(cohort(7)), cohorts(null, true)],
    [flag(cohort(7)), cohorts(or(...Array.from({ length: 51 }, () => pro)))],
  ]
  for (const [filters, all] of kept)
    t.equal(withCohortExpanded(filters, all), filters, JSON.stringify(filters))
})
