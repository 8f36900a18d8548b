// Properties that an event of a known name is expected to have. They are not enforced: the event is stored, and a
// warning counts what is missing.

import { Property } from './event-keys.ts'
import { EventName } from './event-names.ts'
import { hasValue, isObject, isString } from './event-values.ts'
import type { Scan } from './scan.ts'
import type { SetValues } from './set-values.ts'
import type { EventSpans } from './span-tape.ts'

/** Names the properties that an event of the known name `name` lacks or has of the wrong kind; null for none. */
export function missingProperties(
  scan: Scan,
  spans: EventSpans,
  values: SetValues,
  name: number,
): string | null {
  switch (name) {
    case EventName.$pageview:
      return missing(isString(scan, spans, Property.$current_url), '$current_url')
    case EventName.$screen:
      return missing(isString(scan, spans, Property.$screen_name), '$screen_name')
    case EventName.$identify:
      return missing(values.set.end > values.set.start, '$set')
    case EventName.$create_alias:
      return missing(isString(scan, spans, Property.alias), 'alias')
    case EventName.$groupidentify:
      return join(
        missing(hasValue(scan, spans, Property.$group_type), '$group_type'),
        missing(hasValue(scan, spans, Property.$group_key), '$group_key'),
        missing(isObject(scan, spans, Property.$group_set), '$group_set'),
      )
    case EventName['survey sent']:
      return join(
        missing(hasValue(scan, spans, Property.$survey_id), '$survey_id'),
        missing(hasValue(scan, spans, Property.$survey_response), '$survey_response'),
      )
    case EventName['survey shown']:
    case EventName['survey dismissed']:
      return missing(hasValue(scan, spans, Property.$survey_id), '$survey_id')
    case EventName.$feature_flag_called:
      return join(
        missing(hasValue(scan, spans, Property.$feature_flag), '$feature_flag'),
        // null is an answer: posthog-python says so of a flag that the server did not tell of.
        missing(spans.starts[Property.$feature_flag_response]! > 0, '$feature_flag_response'),
      )
    default:
      return null
  }
}

function missing(isThere: boolean, name: string): string | null {
  return isThere ? null : name
}

function join(...names: (string | null)[]): string | null {
  const found = names.filter((name) => name !== null)
  return found.length === 0 ? null : found.join(', ')
}
