import t from 'tap'
import type { PropertyFilter } from '../../src/flags/definition.ts'
import { Effort } from '../../src/flags/effort.ts'
import { cohort, definitionsOf, evaluateAll, flag, flagValue } from './make.ts'

t.test('a flag may take half a million steps, and the next one as many again', async (t) => {
  const effort = new Effort()
  effort.beginFlag()
  t.equal(effort.allows(499_951), false)
  t.equal(effort.allows(499_950), true)
  t.equal(effort.allows(1), false)
  effort.beginFlag()
  t.equal(effort.allows(499_950), true)
})

t.test('a request may take eight million', async (t) => {
  const effort = new Effort()
  for (let count = 0; count < 16; count++) {
    effort.beginFlag()
    t.equal(effort.allows(499_950), true, `${count}`)
  }
  effort.beginFlag()
  t.equal(effort.allows(1), false)
})

t.test('others get a turn after a quarter of a million', async (t) => {
  const effort = new Effort()
  effort.allows(249_999)
  t.equal(effort.isOthersTurn(), false)
  effort.allows(1)
  t.equal(effort.isOthersTurn(), true)
  t.equal(effort.isOthersTurn(), false)
  effort.compiled(2_000)
  t.equal(effort.isOthersTurn(), true)
})

t.test('a large pattern on a long text is not searched, nor is its negation', async (t) => {
  const filter = (operator: string): PropertyFilter => ({ key: 'text', operator, value: '[ab]{1000}$' })
  const value = (operator: string, text: string) =>
    flagValue('f', { groups: [{ properties: [filter(operator)] }] }, { given: { text } })
  t.equal(value('regex', 'a'.repeat(400)), false)
  t.equal(value('not_regex', 'a'.repeat(400)), true)
  t.equal(value('regex', 'a'.repeat(8192)), false, 'it would match')
  t.equal(value('not_regex', `${'a'.repeat(8191)}c`), false, 'it would match')
})

t.test('what is too long to compare matches neither a filter nor its negation', async (t) => {
  const value = (operator: string, text: unknown) =>
    flagValue('f', { groups: [{ properties: [{ key: 'text', operator, value: 'a' }] }] }, { given: { text } })
  for (const text of ['a'.repeat(249_975), ['a'.repeat(249_971)]]) {
    t.equal(value('icontains', text), true)
    t.equal(value('not_icontains', text), false)
    t.equal(value('is_not', text), true)
  }
  for (const text of ['a'.repeat(249_976), ['a'.repeat(249_972)]]) {
    for (const operator of ['icontains', 'not_icontains', 'exact', 'is_not'])
      t.equal(value(operator, text), false, operator)
    t.equal(value('is_set', text), true)
  }
})

t.test('a thousand flags about a long text take no longer than the steps allowed', async (t) => {
  const filters = {
    groups: Array.from({ length: 2 }, () => ({
      properties: [{ key: 'text', operator: 'regex', value: '(?:x|y|[ab]{300})$' }],
    })),
  }
  const flags = Array.from({ length: 1000 }, (_, index) => flag(`f${index}`, filters, { id: index + 1 }))
  const startMs = performance.now()
  const outcomes = evaluateAll(definitionsOf(flags), { given: { text: `${'ab'.repeat(4000)}!` } })
  // Searched in full, it would be minutes.
  t.ok(performance.now() - startMs < 10_000)
  t.equal(outcomes.get('f999')?.value, false)
})

t.test('cohorts that each name the next one twice are asked once each', async (t) => {
  const next = (id: number) => ({ key: 'id', value: id, type: 'cohort' as const })
  const cohorts = Array.from({ length: 40 }, (_, index) =>
    cohort(index + 1, { type: 'AND', values: [next(index + 2), next(index + 2)] }),
  )
  cohorts.push(cohort(41, { type: 'AND', values: [{ key: 'plan', value: 'pro' }] }))
  const project = definitionsOf([flag('f', { groups: [{ properties: [next(1)] }] })], cohorts)
  t.equal(evaluateAll(project, { stored: { plan: 'pro' } }).get('f')?.value, true)
  t.equal(evaluateAll(project, { stored: null, staticCohorts: null }).get('f'), null)
  t.equal(evaluateAll(project, { stored: { plan: 'free' } }).get('f')?.value, false)
})
