import t from 'tap'
import { checkCohortFilters } from '../../src/flags/check-cohort.ts'
import type { JsonObject } from '../../src/flags/json-value.ts'
import { faultOf } from './fault.ts'

const fault = (filters: unknown): string | null =>
  faultOf(() => checkCohortFilters(filters as JsonObject), 'filters')

const leaf = { key: 'plan', value: 'pro', type: 'person', operator: 'exact', negation: true }
const and = (...values: unknown[]) => ({ type: 'AND', values })
const nested = (depth: number): object => (depth === 0 ? leaf : and(nested(depth - 1)))

t.test('takes trees of filters', async (t) => {
  t.equal(fault({ properties: and(leaf) }), null)
  t.equal(
    fault({ properties: { type: 'OR', values: [and(leaf, { type: 'cohort', key: 'id', value: 3 }), leaf] } }),
    null,
  )
  t.equal(fault({ properties: nested(12) }), null)
  t.equal(fault({ properties: and(...Array.from({ length: 1000 }, () => leaf)) }), null)
})

t.test('refuses what is no tree, or too large a one', async (t) => {
  const refused: [filters: unknown, detail: string][] = [
    [{}, 'properties must be a group: {type: AND or OR, values: […]}'],
    [{ properties: [leaf] }, 'properties must be a group: {type: AND or OR, values: […]}'],
    [{ properties: and() }, 'properties has no filter'],
    [{ properties: and(and()) }, 'properties has no filter'],
    [{ properties: { type: 'AND' } }, 'properties.values must be a list'],
    [{ properties: and(leaf, 'x') }, 'properties.values[1] must be an object'],
    [
      { properties: and({ ...leaf, type: 'behavioral' }) },
      'properties.values[0] is about behaviour, which cohorts here do not know',
    ],
    [
      { properties: and({ ...leaf, type: 'flag' }) },
      'properties.values[0].type must be person or cohort, not "flag"',
    ],
    [
      { properties: and(and({ ...leaf, operator: 'gt' })) },
      'properties.values[0].values[0].value must be a number, not "pro"',
    ],
    [
      { properties: and(...Array.from({ length: 1001 }, () => leaf)) },
      'properties has more than 1000 filters',
    ],
  ]
  for (const [filters, detail] of refused) t.equal(fault(filters), `Filters are not valid: ${detail}.`)
  t.match(fault({ properties: nested(13) }), /is nested deeper than 12 levels/)
})
