// Readers of JSON whose shape nobody has promised: definitions as they were stored, bodies as they were sent.

export type JsonObject = Readonly<Record<string, unknown>>

/** The value when it is an object and no list, else null. */
export function objectIn(value: unknown): JsonObject | null {
  // What JSON.parse returns as an object has string keys only.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

/** The elements of a list; of anything else none. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value when it is a string, else ''. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** An id as text: a string as it is, a number in its shortest form, anything else ''. */
export function idIn(value: unknown): string {
  return typeof value === 'number' ? String(value) : textIn(value)
}

/** A number, or a string that is one in decimal notation; else NaN. */
export function numberIn(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && isDecimal(value) ? Number(value) : Number.NaN
}

/** The member of that name, undefined when there is none: no prototype is ever asked. */
export function memberOf(object: JsonObject | null, name: string): unknown {
  return object !== null && Object.hasOwn(object, name) ? object[name] : undefined
}

function isDecimal(text: string): boolean {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)
}
