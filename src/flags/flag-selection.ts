// Which of a project's flags a request is about.

import type { CompiledFlag } from './compiled-flag.ts'
import type { FlagDefinition } from './definition.ts'
import type { FlagRequest } from './flag-request.ts'

const surveyPrefix = 'survey-targeting-'

export interface Selection extends Pick<FlagRequest, 'flagKeys' | 'contexts' | 'runtime'> {
  /** Only those that decide whether a survey is shown. */
  readonly surveysOnly: boolean
}

/** Returns the flags selected, in the order given; the same list when all of them are. */
export function selectFlags(flags: readonly CompiledFlag[], selection: Selection): readonly CompiledFlag[] {
  const { flagKeys, contexts, runtime, surveysOnly } = selection
  const isAll = flagKeys === null && contexts === null && runtime === null && !surveysOnly
  if (isAll) return flags
  return flags.filter(
    ({ key, definition }) =>
      (flagKeys === null || flagKeys.has(key)) &&
      (contexts === null || isInContext(definition, contexts)) &&
      (runtime === null ||
        definition.evaluationRuntime === 'all' ||
        definition.evaluationRuntime === runtime) &&
      (!surveysOnly || key.startsWith(surveyPrefix)),
  )
}

function isInContext({ evaluationTags }: FlagDefinition, contexts: ReadonlySet<string>): boolean {
  return evaluationTags.length === 0 || evaluationTags.some((tag) => contexts.has(tag))
}
