// Names of columns that a query of people has not named: src/query gives them, marked so that nothing in the query can
// mean them, and every answer shows them without the mark.

/** A control character, which names in a query cannot hold. */
export const ownNameMark = '\u0001'

/** What a column of an answer is called. */
export function shownName(name: string): string {
  return name.startsWith(ownNameMark) ? name.slice(ownNameMark.length) : name
}

/** A file has each name once, in whatever case; `names` are those it has in lower case, and gets this one. */
export function distinctName(given: string, names: Set<string>): string {
  let name = given
  for (let count = 1; names.has(name.toLowerCase()); count++) name = `${given}_${count}`
  names.add(name.toLowerCase())
  return name
}
