// From a request to outcomes: evaluates with what the request says, reads what some flag still needs, and takes those
// flags up again.

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import type { CompiledFlag } from './compiled-flag.ts'
import { type CompiledProject, compileProject } from './compiled-project.ts'
import type { FlagDefinitions } from './definition.ts'
import { Effort } from './effort.ts'
import { Evaluation } from './evaluate.ts'
import { type FlagRequest, groupKeyOf } from './flag-request.ts'
import { type Selection, selectFlags } from './flag-selection.ts'
import { type JsonObject, memberOf, objectIn } from './json-value.ts'
import type { KnownSubjects } from './known-subjects.ts'
import { failureOf, type Outcome } from './outcome.ts'
import type { StoredAnswer, StoredReads } from './stored-reads.ts'
import type { Circumstances, Subject } from './subject.ts'

export interface EvaluatorOptions {
  readonly definitions: FlagDefinitions
  readonly stored: StoredReads
  /** What reads have found lately. */
  readonly known: Pick<KnownSubjects, 'person' | 'group'>
  readonly clock: Clock
  readonly freshness: Freshness
}

/** Whether what was sent of an id a moment ago can be read. */
interface Freshness {
  isApplied(projectId: number, distinctId: string): boolean
  /** Resolves when it is, or soon. */
  wait(projectId: number, distinctId: string): Promise<void>
}

/** Who asks for what. */
export interface FlagQuestion {
  readonly projectId: number
  readonly distinctId: string
  readonly request: FlagRequest
  readonly selection: Selection
  /** Properties that the sender's address stands for; null for none. */
  readonly derived: JsonObject | null
}

export interface Evaluated {
  readonly outcomes: readonly Outcome[]
  readonly hasErrors: boolean
}

const noCohorts: ReadonlySet<number> = new Set()
const noHashKeys: ReadonlyMap<string, Uint8Array> = new Map()

/** Evaluates the flags that were asked for. While the project's definitions are not known there are none. */
export async function evaluateFlags(question: FlagQuestion, options: EvaluatorOptions): Promise<Evaluated> {
  const { projectId, selection } = question
  const definitions = options.definitions.of(projectId)
  if (definitions === null) return { outcomes: [], hasErrors: true }
  const project = compileProject(definitions)
  const flags = selectFlags(project.flags, selection)
  const circumstances = circumstancesOf(question, project, options.clock.nowMs())
  const evaluation = new Evaluation(project, circumstances)
  const { effort } = circumstances
  const outcomes: (Outcome | null)[] = []
  let isRecalled = false
  let unreadCount = 0
  for (const flag of flags) {
    if (effort.isOthersTurn()) await setImmediate()
    effort.beginFlag()
    let outcome = evaluation.outcome(flag)
    if (outcome === null && !isRecalled) {
      isRecalled = true
      if (recall(question, project, circumstances, options)) {
        evaluation.resume()
        effort.beginFlag()
        outcome = evaluation.outcome(flag)
      }
    }
    if (outcome === null) unreadCount++
    outcomes.push(outcome)
  }
  const isKept = await keepHashKeys(question, flags, options.stored)
  if (unreadCount > 0) {
    await options.freshness.wait(projectId, question.distinctId)
    const answer = await readStored(question, project, circumstances, options.stored)
    if (answer !== null) {
      take(answer, circumstances)
      evaluation.resume()
    }
    for (const [index, flag] of flags.entries()) {
      if (outcomes[index] !== null) continue
      if (effort.isOthersTurn()) await setImmediate()
      effort.beginFlag()
      const outcome = answer === null ? null : evaluation.outcome(flag)
      outcomes[index] = outcome ?? failureOf(flag, 'properties_unavailable')
    }
  }
  // None is null any more: those of which nothing could be read have failed.
  const complete = outcomes as Outcome[]
  return { outcomes: complete, hasErrors: !isKept || complete.some((one) => one.hasFailed) }
}

function circumstancesOf(
  { distinctId, request, derived }: FlagQuestion,
  project: CompiledProject,
  nowMs: number,
): Circumstances {
  const groups: (Subject | null)[] = [null, null, null, null, null]
  for (const [type, index] of project.groupTypeIndexes) {
    const id = groupKeyOf(request, type)
    if (id === '') continue
    const given = objectIn(memberOf(request.groupProperties, type))
    groups[index] = {
      id,
      idBytes: Buffer.from(id),
      idProperty: '$group_key',
      given,
      derived: null,
      stored: null,
    }
  }
  return {
    person: {
      id: distinctId,
      idBytes: Buffer.from(distinctId),
      idProperty: 'distinct_id',
      given: request.personProperties,
      derived,
      stored: null,
    },
    groups,
    deviceIdBytes: request.deviceId === '' ? null : Buffer.from(request.deviceId),
    nowMs,
    effort: new Effort(),
    staticCohorts: null,
    hashKeys: null,
  }
}

/** Keeps, for flags that keep their value, what the person was. True when nothing was lost. */
async function keepHashKeys(
  { projectId, distinctId, request }: FlagQuestion,
  flags: readonly CompiledFlag[],
  stored: StoredReads,
): Promise<boolean> {
  const { anonDistinctId } = request
  if (anonDistinctId === '' || anonDistinctId === distinctId || distinctId === '') return true
  const flagKeys = keptKeys(flags)
  if (flagKeys.length === 0) return true
  return await stored.keepHashKeys({ projectId, distinctId, hashKey: anonDistinctId, flagKeys })
}

/** Takes what is known without a read, which begins in the background when it is due. True when that was anything. */
function recall(
  question: FlagQuestion,
  project: CompiledProject,
  circumstances: Circumstances,
  { known, freshness, stored }: EvaluatorOptions,
): boolean {
  const { projectId, distinctId } = question
  if (!freshness.isApplied(projectId, distinctId)) return false
  const { person, groups } = circumstances
  const copy = known.person(projectId, distinctId)
  person.stored = copy?.properties ?? null
  let isAny = copy !== null
  let isDue = copy?.isDue ?? false
  for (let typeIndex = 0; typeIndex < groups.length; typeIndex++) {
    const group = groups[typeIndex]!
    if (group === null) continue
    const copyOfGroup = known.group(projectId, typeIndex, group.id)
    group.stored = copyOfGroup?.properties ?? null
    isAny ||= copyOfGroup !== null
    isDue ||= copyOfGroup?.isDue ?? false
  }
  if (person.stored !== null && project.staticCohortIds.length === 0) circumstances.staticCohorts = noCohorts
  if (project.keptFlagKeys.length === 0) circumstances.hashKeys = noHashKeys
  // What it finds is for those who ask next.
  if (isDue) void readStored(question, project, circumstances, stored)
  return isAny
}

function keptKeys(flags: readonly CompiledFlag[]): string[] {
  return flags.filter((flag) => flag.isKept).map((flag) => flag.key)
}

async function readStored(
  { projectId, distinctId }: FlagQuestion,
  project: CompiledProject,
  { groups }: Circumstances,
  stored: StoredReads,
): Promise<StoredAnswer | null> {
  const { keptFlagKeys, staticCohortIds } = project
  const named = groups.flatMap((group, typeIndex) => (group === null ? [] : { typeIndex, key: group.id }))
  return await stored.read({
    projectId,
    distinctId,
    groups: named,
    staticCohortIds,
    keptFlagKeys,
  })
}

function take(answer: StoredAnswer, circumstances: Circumstances): void {
  circumstances.person.stored = answer.person
  for (const [index, group] of circumstances.groups.entries()) {
    if (group !== null) group.stored = answer.groups.get(index) ?? {}
  }
  circumstances.staticCohorts = answer.staticCohorts
  circumstances.hashKeys = new Map([...answer.hashKeys].map(([key, hashKey]) => [key, Buffer.from(hashKey)]))
}
