// How much larger than its arguments the result of a function can be. Text outside of DuckDB's own limit of memory is
// what ends a process: every way to make more of it is counted, through all the parts of a query, and what can be of
// any size whatever it is given is refused.

import { type Ast, listOf, refused, textOf } from './ast.ts'
import { notAllowed, type Scope, spendGrowth } from './rules.ts'

/** How many times the longest argument the result may hold. Errors: invalid_input when nobody can say. */
type Measure = (args: readonly Ast[], called: string) => number

/** Printed as text, a list and a struct escape what they hold: quotes within quotes double with each time. */
const escapeTimes = 2
/** `%F0` for a byte. */
const urlEncodeTimes = 3

/** A list keeps 16 bytes for each value, and the shortest value that splits off a text has one, with what splits it. */
const splitTimes = 8
/** What else may grow beside a list of many rows' values: 4 times. */
const gatherTimes = 16

const measures: Readonly<Record<string, Measure>> = {
  ...every(['||', 'concat'], counted),
  ...every(['list_value', 'struct_pack', 'row'], (args) => escapeTimes * counted(args)),
  concat_ws: ([separator, ...texts]) =>
    separator?.class === 'CONSTANT' ? counted(texts) : texts.length + counted(texts),
  replace: (args, called) => bytesOf(args[2], called),
  regexp_replace: replacedByPattern,
  url_encode: () => urlEncodeTimes,
  string_split: () => splitTimes,
  array_to_string: (args, called) => bytesOf(args[1], called) + 1,
  regexp_extract: ([, , group], called) => lengthOf(group, called),
  ...every(['quantile', 'quantile_cont', 'quantile_disc'], ([, share], called) => lengthOf(share, called)),
  ...every(['max', 'min'], atMost(1)),
  ...every(['arg_max', 'arg_min', 'argmax', 'argmin', 'max_by', 'min_by'], atMost(2)),
  ...every(
    ['json_extract', 'json_extract_string', 'json_extract_path', 'json_extract_path_text', '->', '->>'],
    onePath,
  ),
  ...every(['json_exists', 'json_type', 'json_array_length', 'json_keys'], onePath),
}

/** Counts what `called`, in DuckDB's words, makes of its arguments. Errors: invalid_input. */
export function checkGrowth(called: string, args: readonly Ast[], scope: Scope): void {
  // Lists of one query stand side by side: they are counted once, and by the memory of the process.
  if (called === 'list' && !scope.budget.isGathering) {
    scope.budget.isGathering = true
    spendGrowth(scope, gatherTimes)
  }
  const measure = Object.hasOwn(measures, called) ? measures[called] : undefined
  if (measure !== undefined) spendGrowth(scope, measure(args, called))
}

/** A row as one value, which is a struct of all its columns. */
export function checkRowGrowth(scope: Scope): void {
  spendGrowth(scope, escapeTimes)
}

function every(names: readonly string[], measure: Measure): Record<string, Measure> {
  return Object.fromEntries(names.map((name) => [name, measure]))
}

/** Constants are no longer than the query. */
function counted(args: readonly Ast[]): number {
  return args.filter((arg) => arg.class !== 'CONSTANT').length
}

function bytesOf(replacement: Ast | undefined, called: string): number {
  if (replacement === undefined) return 1
  const text = textOf(replacement)
  if (text === null) throw refused(`The replacement of ${called} must be a text`)
  return Buffer.byteLength(text)
}

/** A pattern may fit between all characters, and before and behind them. Without `g` it is replaced once. */
function replacedByPattern(args: readonly Ast[], called: string): number {
  const [, , replacement, options] = args
  const bytes = bytesOf(replacement, called)
  const isOnce = options === undefined || textOf(options)?.includes('g') === false
  const isPlain = replacement === undefined || textOf(replacement)?.includes('\\') === false
  return bytes === 0 || (isOnce && isPlain) ? 1 : bytes + 1
}

/** Of a list, one result for each of its elements, and the list around them. */
function lengthOf(given: Ast | undefined, called: string): number {
  if (given === undefined || given.class === 'CONSTANT' || given.class === 'CAST') return 1
  if (given.function_name === 'list_value') return escapeTimes * listOf(given.children).length
  throw notAllowed(`this argument of ${called}`)
}

/** With one argument more these gather as many values as it says. */
function atMost(argumentsMax: number): Measure {
  return (args, called) => {
    if (args.length > argumentsMax) throw notAllowed(`${called} of several values`)
    return 1
  }
}

/** A list of paths, or one with wildcards, finds the same value any number of times. */
function onePath([, path]: readonly Ast[], called: string): number {
  const isOne = path === undefined || path.class === 'COLUMN_REF' || path.class === 'CONSTANT'
  const text = path === undefined ? null : textOf(path)
  // All elements of one list, which are its text again.
  if (text !== null && /^\$\."[^"*\\]*"\[\*\]$/.test(text)) return splitTimes
  const isWild = text?.startsWith('$') === true && text.includes('*')
  if (!isOne || isWild) throw notAllowed(`${called} of more than one path`)
  return 1
}
