import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { compileProject } from '../../src/flags/compiled-project.ts'
import { Evaluation } from '../../src/flags/evaluate.ts'
import { anyAsked, anyProject } from './arbitraries.ts'
import { circumstancesOf, evaluateAll } from './make.ts'
import { plainEvaluate } from './plain-evaluate.ts'

const runs = { numRuns: 2000 }

t.test('any project comes to what the plain evaluation comes to', async (t) => {
  let values = 0
  fc.assert(
    fc.property(anyProject, anyAsked, (project, asked) => {
      const { id, given, derived, stored, groups, staticCohorts, hashKeys } = asked
      const plainGroups: Record<number, { id: string; properties: Record<string, unknown> }> = {}
      for (const [index, group] of Object.entries(groups)) {
        const layers = {
          ...('stored' in group ? group.stored : {}),
          ...('given' in group ? group.given : {}),
        }
        plainGroups[Number(index)] = { id: group.id, properties: layers }
      }
      const expected = plainEvaluate(project, {
        id,
        properties: { ...stored, ...derived, ...given },
        groups: plainGroups,
        staticCohorts,
        hashKeys,
      })
      const actual: Record<string, unknown> = {}
      for (const [key, outcome] of evaluateAll(project, asked)) {
        actual[key] = outcome?.hasFailed ? 'none' : [outcome?.value, outcome?.reason]
        if (outcome?.value !== false) values++
      }
      return isDeepStrictEqual(actual, expected)
    }),
    runs,
  )
  t.ok(values > 1000, 'enough of them are on')
})

t.test('what is said before anything stored was read still holds afterwards', async (t) => {
  let early = 0
  let late = 0
  fc.assert(
    fc.property(anyProject, anyAsked, (project, asked) => {
      const expected = [...evaluateAll(project, asked).values()]
      const compiled = compileProject(project)
      const circumstances = circumstancesOf({ ...asked, stored: null, staticCohorts: null, hashKeys: null })
      const evaluation = new Evaluation(compiled, circumstances)
      const first = compiled.flags.map((flag) => evaluation.outcome(flag))
      const known = circumstancesOf(asked)
      circumstances.person.stored = known.person.stored
      circumstances.staticCohorts = known.staticCohorts
      circumstances.hashKeys = known.hashKeys
      evaluation.resume()
      const second = compiled.flags.map((flag) => evaluation.outcome(flag))
      early += first.filter((one) => one !== null).length
      late += first.filter((one) => one === null).length
      const isKept = first.every((one, index) => one === null || isDeepStrictEqual(one, expected[index]))
      return isKept && isDeepStrictEqual(second, expected)
    }),
    runs,
  )
  t.ok(early > 1000 && late > 1000, 'both happen')
})
