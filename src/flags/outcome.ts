// What an evaluation can come to, and how it is written. A flag has few different outcomes, so each is built once, its
// JSON included: an answer with a thousand flags is a thousand strings put together.

/** Why a flag has its value. */
export type Reason =
  | 'super_condition_value'
  | 'holdout_condition_value'
  | 'condition_match'
  | 'no_group_type'
  | 'out_of_rollout_bound'
  | 'no_condition_match'

/** Why a flag has no value. */
export type Fault =
  | 'cohort_missing'
  | 'cohort_cycle'
  | 'dependency_missing'
  | 'dependency_cycle'
  | 'properties_unavailable'

export interface Outcome {
  /** False, true or the key of a variant. */
  readonly value: boolean | string
  /** It has no value: what it needs does not exist or could not be read. Shown as off. */
  readonly hasFailed: boolean
  readonly reason: Reason | Fault
  /** Position among the flag's conditions; null when none decided. */
  readonly conditionIndex: number | null
  /** `"key"` */
  readonly keyText: string
  /** `"key":value` */
  readonly valueMember: string
  /** `"key":"payload"`; null when the value has none. */
  readonly payloadMember: string | null
  /** `"key":{…}` with everything. */
  readonly detailsMember: string
}

/** What outcomes say of their flag. */
export interface FlagFacts {
  readonly id: number
  readonly key: string
  readonly version: number
  /** By `true` or variant key. */
  readonly payloads: ReadonlyMap<string, string>
}

const descriptions: Readonly<Record<Exclude<Reason, 'condition_match'> | Fault, string>> = {
  super_condition_value: 'Super condition value',
  holdout_condition_value: 'Holdout condition value',
  no_group_type: 'No group type',
  out_of_rollout_bound: 'Out of rollout bound',
  no_condition_match: 'No matching condition set',
  cohort_missing: 'A cohort does not exist',
  cohort_cycle: 'A cohort depends on itself',
  dependency_missing: 'A flag it depends on does not exist',
  dependency_cycle: 'The flag depends on itself',
  properties_unavailable: 'Stored properties could not be read',
}

/** Builds an outcome with a value. */
export function outcomeOf(
  flag: FlagFacts,
  value: boolean | string,
  reason: Reason,
  conditionIndex: number | null,
): Outcome {
  const description =
    reason === 'condition_match' ? `Matched condition set ${(conditionIndex ?? 0) + 1}` : descriptions[reason]
  return build(flag, value, reason, conditionIndex, description, {})
}

/** Builds the outcome of a flag that has no value. */
export function failureOf(flag: FlagFacts, fault: Fault): Outcome {
  return { ...build(flag, false, fault, null, descriptions[fault], { failed: true }), hasFailed: true }
}

function build(
  flag: FlagFacts,
  value: boolean | string,
  reason: Reason | Fault,
  conditionIndex: number | null,
  description: string,
  more: object,
): Outcome {
  const key = JSON.stringify(flag.key)
  const payload = value === false ? null : (flag.payloads.get(String(value)) ?? null)
  const details = {
    key: flag.key,
    enabled: value !== false,
    variant: typeof value === 'string' ? value : null,
    ...more,
    reason: { code: reason, condition_index: conditionIndex, description },
    // The description of a flag is for those who may read flags.
    metadata: { id: flag.id, version: flag.version, description: null, payload },
  }
  return {
    value,
    hasFailed: false,
    reason,
    conditionIndex,
    keyText: key,
    valueMember: `${key}:${JSON.stringify(value)}`,
    payloadMember: payload === null ? null : `${key}:${JSON.stringify(payload)}`,
    detailsMember: `${key}:${JSON.stringify(details)}`,
  }
}
