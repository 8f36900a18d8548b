// Names that somebody may have meant.

/** Names in an answer at most. */
const namesMax = 3

/** The names of `known` that are a few letters away from `given`, or that one begins with the other, nearest first. */
export function nearNames(given: string, known: Iterable<string>): string[] {
  const name = given.toLowerCase().slice(0, 40)
  const farMax = Math.max(1, Math.floor(name.length / 2.5))
  return [...new Set(known)]
    .map((other) => ({ other, far: distance(name, other) - (isPart(name, other) ? farMax : 0) }))
    .filter(({ far }) => far <= farMax)
    .sort((a, b) => a.far - b.far || (a.other < b.other ? -1 : 1))
    .slice(0, namesMax)
    .map(({ other }) => other)
}

function isPart(name: string, other: string): boolean {
  return name.length >= 4 && (other.startsWith(name) || (other.length >= 4 && name.startsWith(other)))
}

/** Letters to put in, leave out or change. */
function distance(left: string, right: string): number {
  let before = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j <= right.length; j++) {
      const changed = before[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1)
      row.push(Math.min(changed, before[j]! + 1, row[j - 1]! + 1))
    }
    before = row
  }
  return before[right.length]!
}
