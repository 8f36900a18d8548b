// The evaluation of flags: pure, and in two rounds. The first uses what the request itself says; a flag that would need
// something stored comes out as null. Once that has been read (or cannot be), the second round takes up those flags.
// Most requests of most projects need no second round, and a database that is away costs only the flags that need it.

import { bucketOf, holdoutPrefix, noSalt, variantSalt } from './bucket.ts'
import { type Buckets, noPlace } from './bucket-table.ts'
import {
  type CompiledCondition,
  type CompiledFlag,
  type Dependency,
  flagOutcome,
  noVariant,
  off,
} from './compiled-flag.ts'
import type { CompiledProject } from './compiled-project.ts'
import { type Fault, failureOf, type Outcome, type Reason } from './outcome.ts'
import { absent, type Circumstances, readProperty, type Subject, unread } from './subject.ts'
import { Truth } from './truth.ts'

/** Of a condition that is not met: the flag says the most telling reason, the later of two that tell as much. */
const ranks = { no_group_type: 2, out_of_rollout_bound: 1, no_condition_match: 0 } as const
type MissReason = keyof typeof ranks

/** What a condition comes to: it decides, or it says why it does not, or cannot say yet. */
type Met = 'met' | MissReason | 'unread' | Fault

/** The evaluation of one request. */
export class Evaluation {
  readonly #project: CompiledProject
  /** Null when every flag can have a value, so that no fault is looked for. */
  readonly #faults: ReadonlyMap<CompiledFlag, Fault> | null
  readonly #circumstances: Circumstances
  /** Of the person's id; null where each is hashed alone. */
  readonly #buckets: Buckets | null
  /** By position: the outcome; null: it needs something stored; undefined: not evaluated. */
  readonly #outcomes: (Outcome | null | undefined)[]

  constructor(project: CompiledProject, circumstances: Circumstances) {
    this.#project = project
    this.#faults = project.faults.size === 0 ? null : project.faults
    this.#circumstances = circumstances
    this.#buckets = project.buckets.of(circumstances.person.idBytes)
    this.#outcomes = new Array(project.flags.length).fill(undefined)
  }

  /** Returns what the flag comes to, or null when that depends on something that has not been read. */
  outcome(flag: CompiledFlag): Outcome | null {
    const known = this.#outcomes[flag.position]
    if (known !== undefined) return known
    const outcome = this.#evaluate(flag)
    this.#outcomes[flag.position] = outcome
    return outcome
  }

  /** Forgets what could not be said before the circumstances became known. */
  resume(): void {
    const outcomes = this.#outcomes
    for (let index = 0; index < outcomes.length; index++) {
      if (outcomes[index] === null) outcomes[index] = undefined
    }
  }

  #evaluate(flag: CompiledFlag): Outcome | null {
    const fault = this.#faults?.get(flag)
    if (fault !== undefined) return failureOf(flag, fault)
    const subject = this.#subject(flag.groupTypeIndex)
    if (subject === null) return flagOutcome(flag, off, 'no_group_type', null)
    const { superCondition, holdout } = flag
    if (superCondition !== null) {
      const applies = this.#hasAny(superCondition.keys)
      if (applies === Truth.unread) return null
      if (applies === Truth.yes) return this.#decideSuper(flag, superCondition.condition)
    }
    if (holdout !== null) {
      const idBytes = this.#bucketId(flag, subject)
      if (idBytes === null) return null
      if (bucketOf(holdoutPrefix, idBytes, noSalt) <= holdout.rollout) {
        return this.#match(flag, holdout.variantIndex, subject, 'holdout_condition_value', null)
      }
    }
    return this.#decideByConditions(flag)
  }

  #decideSuper(flag: CompiledFlag, condition: CompiledCondition): Outcome | null {
    const met = this.#meet(flag, condition)
    if (met === 'unread') return null
    if (isFault(met)) return failureOf(flag, met)
    const subject = this.#subject(condition.groupTypeIndex)
    if (met !== 'met' || subject === null) return flagOutcome(flag, off, 'super_condition_value', 0)
    return this.#match(flag, condition.variantIndex, subject, 'super_condition_value', 0)
  }

  #decideByConditions(flag: CompiledFlag): Outcome | null {
    const { conditions } = flag
    let miss: MissReason = 'no_condition_match'
    let missIndex: number | null = null
    for (let index = 0; index < conditions.length; index++) {
      const condition = conditions[index]!
      const met = this.#meet(flag, condition)
      if (met === 'unread') return null
      if (isFault(met)) return failureOf(flag, met)
      if (met === 'met') {
        const subject = this.#subject(condition.groupTypeIndex)! // a condition without a subject is not met
        return this.#match(flag, condition.variantIndex, subject, 'condition_match', index)
      }
      if (ranks[met] >= ranks[miss]) {
        miss = met
        missIndex = index
      }
      if (flag.earlyExit && met === 'out_of_rollout_bound') break
    }
    return flagOutcome(flag, off, miss, missIndex)
  }

  /** Asks what is cheap first: other flags are known, properties lie at hand, the rollout takes a hash. */
  #meet(flag: CompiledFlag, condition: CompiledCondition): Met {
    const subject = this.#subject(condition.groupTypeIndex)
    if (subject === null) return 'no_group_type'
    let fault: Fault | null = condition.fault
    let isUnread = false
    const { dependencies } = condition
    for (let index = 0; index < dependencies.length; index++) {
      const met = this.#meetDependency(dependencies[index]!)
      if (met === 'unread') isUnread = true
      else if (isFault(met)) fault ??= met
      else if (met !== 'met') return met
    }
    if (condition.check !== null) {
      const truth = condition.check(this.#circumstances)
      if (truth === Truth.no) return 'no_condition_match'
      if (truth === Truth.unread) isUnread = true
    }
    // What is read may still decide against the condition, and then no fault is met.
    if (isUnread) return 'unread'
    if (fault !== null) return fault
    if (condition.rollout === 1) return 'met'
    const idBytes = this.#bucketId(flag, subject)
    if (idBytes === null) return 'unread'
    const bucket = this.#bucket(flag, idBytes, flag.rolloutPlace, noSalt)
    return bucket <= condition.rollout ? 'met' : 'out_of_rollout_bound'
  }

  #meetDependency({ flagId, wanted }: Dependency): Met {
    const other = this.#project.byId.get(flagId)
    if (other === undefined) return wanted === false ? 'met' : 'no_condition_match' // an inactive flag is off
    const outcome = this.outcome(other)
    if (outcome === null) return 'unread'
    // Only faults are reasons of what has failed.
    if (outcome.hasFailed) return outcome.reason as Fault
    const isMet = typeof wanted === 'string' ? outcome.value === wanted : (outcome.value !== false) === wanted
    return isMet ? 'met' : 'no_condition_match'
  }

  /** The outcome of a flag that is on: the variant of the condition, else the one by hash. */
  #match(
    flag: CompiledFlag,
    variantIndex: number,
    subject: Subject,
    reason: Reason,
    conditionIndex: number | null,
  ): Outcome | null {
    if (variantIndex >= 0 || flag.variantEnds.length === 0) {
      return flagOutcome(flag, variantIndex, reason, conditionIndex)
    }
    const idBytes = this.#bucketId(flag, subject)
    if (idBytes === null) return null
    const bucket = this.#bucket(flag, idBytes, flag.variantPlace, variantSalt)
    return flagOutcome(flag, variantAt(flag.variantEnds, bucket), reason, conditionIndex)
  }

  /** Null when there is nobody to evaluate for: no such group in the request, or an empty id. */
  #subject(groupTypeIndex: number | null): Subject | null {
    const { person, groups } = this.#circumstances
    const subject = groupTypeIndex === null ? person : (groups[groupTypeIndex] ?? null)
    return subject === null || subject.id === '' ? null : subject
  }

  /** What the subject is bucketed by; null when that has not been read. */
  #bucketId({ key, isByDevice, isKept }: CompiledFlag, subject: Subject): Uint8Array | null {
    const { person, deviceIdBytes, hashKeys } = this.#circumstances
    if (subject !== person) return subject.idBytes
    if (isByDevice && deviceIdBytes !== null) return deviceIdBytes
    if (!isKept) return person.idBytes
    return hashKeys === null ? null : (hashKeys.get(key) ?? person.idBytes)
  }

  /** Out of the project's table at `place` where the id is the person's own, else hashed alone. */
  #bucket(flag: CompiledFlag, idBytes: Uint8Array, place: number, salt: Uint8Array): number {
    const isInTable = place !== noPlace && idBytes === this.#circumstances.person.idBytes
    if (this.#buckets === null || !isInTable) return bucketOf(flag.prefix, idBytes, salt)
    return this.#buckets.at(place)
  }

  #hasAny(keys: readonly string[]): Truth {
    let result: Truth = Truth.no
    for (const key of keys) {
      const value = readProperty(this.#circumstances.person, key)
      if (value === unread) result = Truth.unread
      else if (value !== absent) return Truth.yes
    }
    return result
  }
}

/** Position of the variant whose interval holds `bucket`: from the end of the one before to its own, exclusive. */
function variantAt(ends: readonly number[], bucket: number): number {
  for (let index = 0; index < ends.length; index++) if (bucket < ends[index]!) return index
  return noVariant
}

function isFault(met: Met): met is Fault {
  return met !== 'met' && met !== 'unread' && !(met in ranks)
}
