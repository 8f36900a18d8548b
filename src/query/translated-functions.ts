// Functions of ClickHouse's names, which PostHog's SQL knows, in DuckDB's. Only what means the same.

import { type Ast, callNode, caseNode, refused } from './ast.ts'
import { timeTranslations } from './translated-times.ts'
import { pairsOf, valueTranslations } from './translated-values.ts'
import { manyArguments, renames, row, type Translations } from './translation.ts'

const distinct = { distinct: true }

const aggregates: Translations = {
  ...renames({
    any: 'any_value',
    anylast: 'last',
    grouparray: 'list',
    quantile: 'quantile_cont',
    quantileexact: 'quantile_cont',
    quantiletiming: 'quantile_cont',
    quantiletdigest: 'quantile_cont',
    stddevpop: 'stddev_pop',
    stddevsamp: 'stddev_samp',
    varpop: 'var_pop',
    varsamp: 'var_samp',
    covarpop: 'covar_pop',
    covarsamp: 'covar_samp',
    // Below are DuckDB's own, so that they take a condition too.
    count: 'count',
    sum: 'sum',
    avg: 'avg',
    min: 'min',
    max: 'max',
    median: 'median',
    argmax: 'arg_max',
    argmin: 'arg_min',
  }),
  uniq: row(1, manyArguments, (args) => callNode('count', [tupleOf(args)], distinct)),
  uniqexact: row(1, manyArguments, (args) => callNode('count', [tupleOf(args)], distinct)),
  uniqcombined: row(1, manyArguments, (args) => callNode('count', [tupleOf(args)], distinct)),
  countdistinct: row(1, manyArguments, (args) => callNode('count', [tupleOf(args)], distinct)),
  groupuniqarray: row(1, 1, (args) => callNode('list', args, distinct)),
  quantiles: row(2, 10, ([x, ...shares]) => callNode('quantile_cont', [x!, callNode('list_value', shares)])),
}

/** Aggregates that DuckDB has by the same name take filter and distinct as they are. */
const own = /^(?:count|sum|avg|min|max|median|countif)$/

const others: Translations = {
  ...timeTranslations,
  ...valueTranslations,
  multiif: row(3, manyArguments, (args) => {
    const { checks, otherwise } = pairsOf(args)
    return caseNode(checks, otherwise)
  }),
}

/** Names that queries may use besides DuckDB's. */
export const translatedNames: readonly string[] = [...Object.keys(aggregates), ...Object.keys(others)]

/**
 * The call in DuckDB's words, or null when `name` (in lower case) is none of ClickHouse's.
 * Errors: invalid_input for a wrong number of arguments.
 */
export function translateCall(name: string, args: readonly Ast[]): Ast | null {
  if (own.test(name)) return null
  const base = name.slice(0, -2)
  if (name.endsWith('if') && Object.hasOwn(aggregates, base)) return translateConditional(base, args)
  const found = translationOf(name)
  return found === null ? null : applied(name, found, args)
}

function translationOf(name: string): Translations[string] | null {
  if (Object.hasOwn(aggregates, name)) return aggregates[name] ?? null
  return Object.hasOwn(others, name) ? (others[name] ?? null) : null
}

/** `sumIf(x, condition)`; what stands in brackets of its own, as in `quantileIf(0.9)(x, condition)`, comes behind. */
function translateConditional(base: string, args: readonly Ast[]): Ast {
  const isQuantile = base.startsWith('quantile')
  const at = isQuantile ? 1 : args.length - 1
  const filter = args[at]
  if (filter === undefined || args.length < 1) throw refused(`Function '${base}If' needs a condition`)
  const rest = args.filter((_, index) => index !== at)
  const called = applied(`${base}If`, aggregates[base]!, rest) // the caller has looked
  return { ...called, filter }
}

function applied(
  name: string,
  { argumentsMin, argumentsMax, translate }: Translations[string],
  args: readonly Ast[],
): Ast {
  if (args.length < argumentsMin || args.length > argumentsMax) {
    throw refused(`Function '${name}' does not take ${args.length} arguments`)
  }
  return translate(args)
}

/** Several values count as one. */
function tupleOf(args: readonly Ast[]): Ast {
  return args.length === 1 ? args[0]! : callNode('row', args)
}
