// Versions as `1.2.3`: a leading v, and what follows a hyphen or a plus, do not count; missing parts are 0.

export type SemverOperator = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'tilde' | 'caret' | 'wildcard'

type Version = readonly [number, number, number]

/** Returns the test of a version against the one in a filter; whatever is no version on either side fails it. */
export function comparesVersions(wanted: unknown, operator: SemverOperator): (value: unknown) => boolean {
  const range = rangeOf(wanted, operator)
  if (range === null) return () => false
  return (value) => {
    const version = parseVersion(value)
    return version !== null && range(version)
  }
}

function rangeOf(wanted: unknown, operator: SemverOperator): ((version: Version) => boolean) | null {
  if (operator === 'wildcard') return wildcardRange(wanted)
  const from = parseVersion(wanted)
  if (from === null) return null
  const [major, minor, patch] = from
  switch (operator) {
    case 'eq':
      return (version) => compare(version, from) === 0
    case 'neq':
      return (version) => compare(version, from) !== 0
    case 'gt':
      return (version) => compare(version, from) > 0
    case 'gte':
      return (version) => compare(version, from) >= 0
    case 'lt':
      return (version) => compare(version, from) < 0
    case 'lte':
      return (version) => compare(version, from) <= 0
    case 'tilde':
      return between(from, [major, minor + 1, 0])
    case 'caret':
      // What the left-most part that is not 0 promises.
      if (major > 0) return between(from, [major + 1, 0, 0])
      return between(from, minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1])
  }
}

function wildcardRange(wanted: unknown): ((version: Version) => boolean) | null {
  if (typeof wanted !== 'string') return null
  const stem = wanted.trim().replace(/\.\*(?:\.\*)?$/, '')
  const from = stem === wanted.trim() ? null : parseVersion(stem)
  if (from === null) return null
  const parts = stem.split('.').length
  if (parts > 2) return null
  return between(from, parts === 1 ? [from[0] + 1, 0, 0] : [from[0], from[1] + 1, 0])
}

function between(from: Version, end: Version): (version: Version) => boolean {
  return (version) => compare(version, from) >= 0 && compare(version, end) < 0
}

function compare(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}

/** Parts beyond the third are ignored. A part with a leading zero, or none at all, makes it no version. */
function parseVersion(value: unknown): Version | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const text = String(value).trim().replace(/^v/i, '').split(/[-+]/, 1)[0]!
  const parts = text.split('.')
  if (!parts.every((part) => /^(?:0|[1-9]\d{0,14})$/.test(part))) return null
  return [Number(parts[0]), Number(parts[1] ?? 0), Number(parts[2] ?? 0)]
}
