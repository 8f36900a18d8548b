// Ids that no two people may be joined by: what broken code sends in place of an id. Upstream's list.

const anyCase = [
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
]
const exactCase = ['[object Object]', 'NaN', 'None', 'none', 'null', '0']

const illegalInLowerCase = new Set(withQuotes(anyCase))
const illegalAsWritten = new Set(withQuotes(exactCase))

/** True for an id that must not be merged with any other. It may still have a person of its own. */
export function isIllegalId(id: string): boolean {
  return id.trim() === '' || illegalInLowerCase.has(id.toLowerCase()) || illegalAsWritten.has(id)
}

function withQuotes(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [id, `'${id}'`, `"${id}"`])
}
