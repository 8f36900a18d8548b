// How a function of ClickHouse's name becomes an expression in DuckDB's words, and what the tables of them share.

import { type Ast, callNode, castNode, integerNode, listOf, refused, textOf } from './ast.ts'

export interface Translation {
  readonly argumentsMin: number
  readonly argumentsMax: number
  readonly translate: (args: readonly Ast[]) => Ast
}

/** By name in lower case. */
export type Translations = Readonly<Record<string, Translation>>

export const manyArguments = 100

export function row(
  argumentsMin: number,
  argumentsMax: number,
  translate: Translation['translate'],
): Translation {
  return { argumentsMin, argumentsMax, translate }
}

/** Other names for what takes the same arguments. */
export function renames(names: Readonly<Record<string, string>>, argumentsMax = 3): Translations {
  return mapped(names, (name) => row(0, argumentsMax, (args) => callNode(name, args)))
}

export function casts(
  types: Readonly<Record<string, readonly [type: string, isTry: boolean]>>,
): Translations {
  return mapped(types, ([type, isTry]) => row(1, 1, ([x]) => castNode(x!, type, isTry)))
}

export function mapped<T>(
  values: Readonly<Record<string, T>>,
  make: (value: T) => Translation,
): Translations {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]))
}

/** `left + right` and the like. */
export function infix(operator: string, left: Ast, right: Ast): Ast {
  return callNode(operator, [left, right], { is_operator: true })
}

/** A call whose growth is counted like that of any other. */
export const call = (name: string, ...args: readonly Ast[]): Ast => callNode(name, args)

export const number = integerNode

/** A text that must stand in the query itself. Errors: invalid_input. */
export function constantText(node: Ast | undefined, what: string): string {
  const text = node === undefined ? null : textOf(node)
  if (text === null) throw refused(`${what} must be a text`)
  return text
}

/** A unit of time: a text, or a bare word. */
export function unitOf(node: Ast): string {
  const word = node.class === 'COLUMN_REF' ? listOf(node.column_names).join('.') : textOf(node)
  const unit = (word ?? '').toLowerCase().replace(/s$/, '')
  if (/^(?:microsecond|millisecond|second|minute|hour|day|week|month|quarter|year)$/.test(unit)) return unit
  throw refused(`'${(word ?? '').slice(0, 40)}' is no unit of time`)
}
