// Cohorts as tests of a person. A static one is a list of members, which has to be read; a dynamic one is a tree of
// filters, in which cohorts may stand again.

import type { CohortDefinition } from './definition.ts'
import type { Effort } from './effort.ts'
import { type JsonObject, listIn, numberIn, objectIn } from './json-value.ts'
import { propertyCheck } from './property-check.ts'
import type { Circumstances } from './subject.ts'
import { allOf, anyOf, type Check, opposite, Truth, truthOf } from './truth.ts'

/** Why a cohort cannot be evaluated. */
export type CohortFault = 'cohort_missing' | 'cohort_cycle'

export type CompiledCohort =
  | {
      readonly kind: 'check'
      readonly check: Check<Circumstances>
      /** Static cohorts whose members it asks for. */
      readonly staticIds: ReadonlySet<number>
    }
  | { readonly kind: 'fault'; readonly fault: CohortFault }

/** Groups within groups are followed this far; what is deeper matches nobody. */
const depthMax = 64
/** A longer chain of cohorts within cohorts is taken for a cycle: it would end the stack. */
const chainLengthMax = 100

const nobody: Check<Circumstances> = () => Truth.no

/** Compiles cohorts as they are asked for, each once. */
export class Cohorts {
  readonly #definitions: ReadonlyMap<number, CohortDefinition>
  readonly #compiled = new Map<number, CompiledCohort>()
  /** Cohorts that are being compiled, one inside the other. */
  readonly #open = new Set<number>()

  constructor(definitions: ReadonlyMap<number, CohortDefinition>) {
    this.#definitions = definitions
  }

  /** Compiles a filter that names a cohort: in it, or not in it. */
  membership(filter: JsonObject): CompiledCohort {
    const cohort = this.#find(numberIn(filter.value))
    const isNegated = (filter.operator === 'not_in') !== (filter.negation === true)
    if (cohort.kind === 'fault' || !isNegated) return cohort
    const { check, staticIds } = cohort
    return { kind: 'check', check: (circumstances) => opposite(check(circumstances)), staticIds }
  }

  #find(id: number): CompiledCohort {
    const known = this.#compiled.get(id)
    if (known !== undefined) return known
    const definition = this.#definitions.get(id)
    if (definition === undefined) return { kind: 'fault', fault: 'cohort_missing' }
    if (this.#open.has(id) || this.#open.size >= chainLengthMax)
      return { kind: 'fault', fault: 'cohort_cycle' }
    this.#open.add(id)
    const compiled = definition.isStatic ? staticCohort(id) : remembered(this.#dynamic(definition))
    this.#open.delete(id)
    // What leads into a cycle that is still open is not the cycle's own answer, but it is the same one.
    this.#compiled.set(id, compiled)
    return compiled
  }

  #dynamic({ properties }: CohortDefinition): CompiledCohort {
    const tree = objectIn(properties)
    return tree === null ? { kind: 'check', check: nobody, staticIds: new Set() } : this.#node(tree, depthMax)
  }

  /** A group or a filter. A group without members has none, and so has what cannot be evaluated. */
  #node(node: JsonObject, depth: number): CompiledCohort {
    if (node.type === 'cohort') return this.membership(node)
    if (node.type !== 'AND' && node.type !== 'OR') return leaf(node)
    const checks: Check<Circumstances>[] = []
    const staticIds = new Set<number>()
    for (const value of depth === 0 ? [] : listIn(node.values)) {
      const inner = objectIn(value)
      const compiled = inner === null ? staticNobody : this.#node(inner, depth - 1)
      if (compiled.kind === 'fault') return compiled
      checks.push(compiled.check)
      for (const id of compiled.staticIds) staticIds.add(id)
    }
    if (checks.length === 0) return staticNobody
    return { kind: 'check', check: node.type === 'AND' ? allOf(checks) : anyOf(checks), staticIds }
  }
}

/**
 * Asks a cohort once for all who name it: cohorts that each name the next one twice would be asked 2^n times. What is
 * remembered is the last request's answer, and before anything stored was read it is another one.
 */
function remembered(cohort: CompiledCohort): CompiledCohort {
  if (cohort.kind === 'fault') return cohort
  let lastEffort: Effort | null = null
  let lastIsRead = false
  let truth: Truth = Truth.no
  const check: Check<Circumstances> = (circumstances) => {
    const { effort, staticCohorts } = circumstances
    const isRead = staticCohorts !== null
    if (effort !== lastEffort || isRead !== lastIsRead) {
      truth = cohort.check(circumstances)
      lastEffort = effort
      lastIsRead = isRead
    }
    return truth
  }
  return { kind: 'check', check, staticIds: cohort.staticIds }
}

const staticNobody: CompiledCohort = { kind: 'check', check: nobody, staticIds: new Set() }

function leaf(filter: JsonObject): CompiledCohort {
  // Behaviour would have to be looked up among events.
  const isPerson = filter.type === 'person' || filter.type === undefined || filter.type === null
  return isPerson ? { kind: 'check', check: propertyCheck(filter, null), staticIds: new Set() } : staticNobody
}

function staticCohort(id: number): CompiledCohort {
  const check: Check<Circumstances> = ({ staticCohorts }) =>
    staticCohorts === null ? Truth.unread : truthOf(staticCohorts.has(id))
  return { kind: 'check', check, staticIds: new Set([id]) }
}
