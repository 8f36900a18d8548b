// What the filters of a flag or a cohort name by id: other flags and cohorts, wherever in the tree they stand.

export interface References {
  readonly cohortIds: ReadonlySet<number>
  readonly flagIds: ReadonlySet<number>
}

/** Largest Postgres integer. */
const idMax = 2_147_483_647

/** Finds them in `filters` as stored. An id that is no integer is left out: it names nothing. */
export function referencesIn(filters: unknown): References {
  const cohortIds = new Set<number>()
  const flagIds = new Set<number>()
  const rest: unknown[] = [filters]
  while (rest.length > 0) {
    const one = rest.pop()
    if (typeof one !== 'object' || one === null) continue
    if ('type' in one && one.type === 'cohort' && 'value' in one) add(cohortIds, one.value)
    if ('type' in one && one.type === 'flag' && 'key' in one) add(flagIds, one.key)
    rest.push(...Object.values(one))
  }
  return { cohortIds, flagIds }
}

/**
 * Finds a way through `edges` from `start` back to itself, as the ids on it; null when there is none. `edges` names
 * what each id refers to.
 */
export function cycleThrough(
  start: number,
  edges: (id: number) => Iterable<number>,
): readonly number[] | null {
  const seen = new Set<number>()
  const path: number[] = [start]
  const open: Iterator<number>[] = [edges(start)[Symbol.iterator]()]
  while (open.length > 0) {
    const { done, value } = open[open.length - 1]!.next()
    if (done) {
      open.pop()
      path.pop()
    } else if (value === start) return path
    else if (!seen.has(value)) {
      seen.add(value)
      path.push(value)
      open.push(edges(value)[Symbol.iterator]())
    }
  }
  return null
}

function add(ids: Set<number>, value: unknown): void {
  const id = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  if (typeof id === 'number' && Number.isInteger(id) && id >= 1 && id <= idMax) ids.add(id)
}
