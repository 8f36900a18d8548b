// All active flags of a project, compiled, in the order of their ids, with what their dependencies on each other rule
// out beforehand.

import { BucketTable } from './bucket-table.ts'
import { Cohorts } from './cohort.ts'
import { type CompiledFlag, compileFlag, type Dependency } from './compiled-flag.ts'
import type { ProjectDefinitions } from './definition.ts'
import type { Fault } from './outcome.ts'
import { PropertyChecks } from './property-check.ts'

export interface CompiledProject {
  readonly definitions: ProjectDefinitions
  /** Active ones, in id order. */
  readonly flags: readonly CompiledFlag[]
  /** Of those bucketed by a person's distinct_id. */
  readonly buckets: BucketTable
  /** Active ones. */
  readonly byId: ReadonlyMap<number, CompiledFlag>
  /** Flags that can never have a value, with the reason. */
  readonly faults: ReadonlyMap<CompiledFlag, Fault>
  readonly groupTypeIndexes: ReadonlyMap<string, number>
  /** All that some flag asks for. */
  readonly staticCohortIds: readonly number[]
  /** Of the flags that keep their value. */
  readonly keptFlagKeys: readonly string[]
}

/** A longer chain of dependencies is taken for a cycle. */
const chainLengthMax = 100

const compiled = new WeakMap<ProjectDefinitions, CompiledProject>()

/** Compiles the definitions, once for each object. */
export function compileProject(definitions: ProjectDefinitions): CompiledProject {
  let project = compiled.get(definitions)
  if (project === undefined) {
    project = compile(definitions)
    compiled.set(definitions, project)
  }
  return project
}

function compile(definitions: ProjectDefinitions): CompiledProject {
  const buckets = new BucketTable()
  const shared = { cohorts: new Cohorts(definitions.cohorts), properties: new PropertyChecks(), buckets }
  const flags = definitions.flags
    .filter((flag) => flag.active)
    .map((flag, position) => compileFlag(flag, position, shared))
  const byId = new Map(flags.map((flag) => [flag.id, flag]))
  const inactive = new Set(definitions.flags.filter((flag) => !flag.active).map((flag) => flag.id))
  return {
    definitions,
    flags,
    buckets,
    byId,
    faults: findFaults(flags, byId, inactive),
    groupTypeIndexes: new Map([...definitions.groupTypes].map(([index, name]) => [name, index])),
    keptFlagKeys: flags.filter(({ isKept }) => isKept).map(({ key }) => key),
    staticCohortIds: [...new Set(flags.flatMap((flag) => [...flag.staticCohortIds]))],
  }
}

/** An inactive flag is off; one that does not exist is nothing that could be depended on. */
function findFaults(
  flags: readonly CompiledFlag[],
  byId: ReadonlyMap<number, CompiledFlag>,
  inactive: ReadonlySet<number>,
): ReadonlyMap<CompiledFlag, Fault> {
  const faults = new Map<CompiledFlag, Fault>()
  const sound = new Set<CompiledFlag>()
  const visit = (flag: CompiledFlag, chainLength: number): Fault | null => {
    if (sound.has(flag)) return null
    const known = faults.get(flag)
    if (known !== undefined) return known
    if (chainLength > chainLengthMax) return 'dependency_cycle'
    let fault: Fault | null = null
    faults.set(flag, 'dependency_cycle') // what a dependency finds that leads back to here
    for (const { flagId } of dependenciesOf(flag)) {
      const other = byId.get(flagId)
      if (other !== undefined) fault ??= visit(other, chainLength + 1)
      else if (!inactive.has(flagId)) fault ??= 'dependency_missing'
    }
    if (fault === null) {
      faults.delete(flag)
      sound.add(flag)
    } else faults.set(flag, fault)
    return fault
  }
  for (const flag of flags) visit(flag, 0)
  return faults
}

function dependenciesOf(flag: CompiledFlag): Dependency[] {
  const conditions = flag.superCondition
    ? [flag.superCondition.condition, ...flag.conditions]
    : flag.conditions
  return conditions.flatMap((condition) => condition.dependencies)
}
