// What management refuses about a dynamic cohort's filters: {properties: tree}, the tree's groups joined by AND or OR,
// its leaves about properties of persons or about other cohorts.

import { checkProperty, filterFault } from './check-property.ts'
import { type JsonObject, objectIn } from './json-value.ts'

/** Groups within groups; the body of a request may be no deeper. */
const depthMax = 12
/** Of one cohort. */
const leavesMax = 1_000

/** Errors: invalid_input for the field `filters`, for the first fault. */
export function checkCohortFilters(filters: JsonObject): void {
  const tree = objectIn(filters.properties)
  if (tree === null) throw filterFault('properties must be a group: {type: AND or OR, values: […]}')
  const leaves = countLeaves(tree, 'properties', 0)
  if (leaves === 0) throw filterFault('properties has no filter')
  if (leaves > leavesMax) throw filterFault(`properties has more than ${leavesMax} filters`)
}

function countLeaves(node: JsonObject, path: string, depth: number): number {
  if (node.type !== 'AND' && node.type !== 'OR') {
    if (node.type === 'behavioral')
      throw filterFault(`${path} is about behaviour, which cohorts here do not know`)
    checkProperty(node, { path, types: ['person', 'cohort'], groupTypeIndex: null })
    return 1
  }
  if (depth >= depthMax) throw filterFault(`${path} is nested deeper than ${depthMax} levels`)
  if (!Array.isArray(node.values)) throw filterFault(`${path}.values must be a list`)
  let leaves = 0
  for (const [index, value] of node.values.entries()) {
    const inner = `${path}.values[${index}]`
    const child = objectIn(value)
    if (child === null) throw filterFault(`${inner} must be an object`)
    leaves += countLeaves(child, inner, depth + 1)
  }
  return leaves
}
