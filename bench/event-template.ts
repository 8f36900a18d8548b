// What repeats between events, printed once.

export interface Template {
  readonly event: string
  readonly properties: Readonly<Record<string, unknown>>
  /** The event as JSON text up to and including the comma after the last fixed property. */
  readonly head: string
  /** `$set` and `$set_once`, beside the properties as posthog-js sends them on `$identify`. */
  readonly person: Readonly<Record<string, unknown>>
}

export function createTemplate(
  event: string,
  properties: Template['properties'],
  person: Template['person'],
): Template {
  const text = JSON.stringify(properties)
  const fixed = text === '{}' ? '{' : `${text.slice(0, -1)},`
  return { event, properties, head: `{"event":${JSON.stringify(event)},"properties":${fixed}`, person }
}
