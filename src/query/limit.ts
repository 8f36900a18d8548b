// How many rows a query is to return: what it says itself, within what one answer holds.

import { type Ast, integerNode, listOf, nodeOf, refused } from './ast.ts'

/** Rows of a query without LIMIT. */
export const rowsDefault = 100
export const rowsMax = 50_000

export interface Limited {
  /** The statement, asking for one row more than `limit`, which shows whether there are more. */
  readonly statement: Ast
  readonly limit: number
  readonly offset: number
}

/** Errors: invalid_input for a LIMIT or OFFSET that is no whole number. */
export function limitStatement(statement: Ast): Limited {
  const modifiers = listOf(statement.modifiers).map(nodeOf)
  const own = modifiers.find(({ type }) => type === 'LIMIT_MODIFIER')
  const others = modifiers.filter((modifier) => modifier !== own)
  const limit = Math.min(countOf(own?.limit, rowsDefault), rowsMax)
  const offset = countOf(own?.offset, 0)
  const modifier = {
    type: 'LIMIT_MODIFIER',
    limit: integerNode(limit + 1),
    offset: offset === 0 ? null : integerNode(offset),
  }
  return { statement: { ...statement, modifiers: [...others, modifier] }, limit, offset }
}

function countOf(value: unknown, absent: number): number {
  if (value === null || value === undefined) return absent
  const node = nodeOf(value)
  const count = node.class === 'CONSTANT' ? nodeOf(node.value).value : null
  // A whole number of 32 bits, which is what a constant of ours is.
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 2_147_483_647)
    return count
  throw refused('LIMIT and OFFSET must be whole numbers')
}
