// The answers in all shapes that SDKs of ten years expect, put together from text that was written once: settings by
// project, outcomes by flag.

import type { Outcome } from './outcome.ts'

export type AnswerShape =
  /** Keys of the flags that are on. */
  | 'keys'
  /** Values of the flags that are on. */
  | 'values_on'
  /** Values and payloads. */
  | 'values'
  /** Everything about each flag. */
  | 'details'

export interface Answer {
  readonly outcomes: readonly Outcome[]
  /** Some flag has no value, or nothing is known of the project's flags. */
  readonly hasErrors: boolean
  readonly isOverQuota: boolean
  readonly requestId: string
  readonly evaluatedAtMs: number
  /** Members to put in front, without braces; '' for none. */
  readonly settings: string
}

/** Writes the answer as JSON. */
export function answerText(answer: Answer, shape: AnswerShape): string {
  const { settings, requestId, evaluatedAtMs, isOverQuota } = answer
  const front = settings === '' ? '{' : `{${settings},`
  const quota = isOverQuota ? ',"quotaLimited":["feature_flags"]' : ''
  return `${front}${flagsText(answer, shape)}${quota},"requestId":"${requestId}","evaluatedAt":${evaluatedAtMs}}`
}

function flagsText({ outcomes, hasErrors }: Answer, shape: AnswerShape): string {
  const errors = `"errorsWhileComputingFlags":${hasErrors}`
  switch (shape) {
    case 'keys':
      return `"featureFlags":[${membersText(outcomes, keyOf)}]`
    case 'values_on':
      return `"featureFlags":{${membersText(outcomes, valueOn)}}`
    case 'values': {
      const payloads = membersText(outcomes, payload)
      return `"featureFlags":{${membersText(outcomes, value)}},${errors},"featureFlagPayloads":{${payloads}}`
    }
    case 'details':
      return `"flags":{${membersText(outcomes, details)}},${errors}`
  }
}

const keyOf = (one: Outcome): string | null => (one.value === false ? null : one.keyText)
const valueOn = (one: Outcome): string | null => (one.value === false ? null : one.valueMember)
/** These shapes cannot say that a flag failed: told as off, it would be turned off where it was on. */
const value = (one: Outcome): string | null => (one.hasFailed ? null : one.valueMember)
const payload = (one: Outcome): string | null => one.payloadMember
const details = (one: Outcome): string => one.detailsMember

function membersText(outcomes: readonly Outcome[], memberOf: (one: Outcome) => string | null): string {
  let text = ''
  for (const outcome of outcomes) {
    const member = memberOf(outcome)
    if (member !== null) text += text === '' ? member : `,${member}`
  }
  return text
}
