/** Everything that a log could print of an error, hidden and nested properties included. */
export function everythingOf(error: unknown, seen = new Set<unknown>()): string {
  if (typeof error !== 'object' || error === null) return String(error)
  if (seen.has(error)) return ''
  seen.add(error)
  return Reflect.ownKeys(error)
    .map((key) => everythingOf(Reflect.get(error, key), seen))
    .join('\n')
}
