// ClickHouse's functions of time. Moments are in UTC unless a time zone is named.

import { type Ast, callNode, castNode, nodeOf, refused, textNode, textOf } from './ast.ts'
import {
  call,
  casts,
  constantText,
  infix,
  mapped,
  number,
  renames,
  row,
  type Translations,
  unitOf,
} from './translation.ts'

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const

/** What strftime calls the signs that formatDateTime has another meaning for. */
const formatSigns: Readonly<Record<string, string>> = {
  i: '%M',
  M: '%B',
  s: '%S',
  T: '%H:%M:%S',
  F: '%Y-%m-%d',
  D: '%m/%d/%y',
  R: '%H:%M',
  h: '%I',
  W: '%A',
  e: '%-d',
}

export const timeTranslations: Translations = {
  ...casts({
    todatetime64: ['TIMESTAMP WITH TIME ZONE', false],
    todateornull: ['DATE', true],
    todatetimeornull: ['TIMESTAMP WITH TIME ZONE', true],
    parsedatetimebesteffort: ['TIMESTAMP WITH TIME ZONE', false],
    parsedatetimebesteffortornull: ['TIMESTAMP WITH TIME ZONE', true],
    parsedatetime64besteffortornull: ['TIMESTAMP WITH TIME ZONE', true],
  }),
  todate: row(1, 2, ([x, zone]) => castNode(zone === undefined ? x! : inZone(x!, zone), 'DATE')),
  // A moment that is written without a zone is one in the zone given.
  todatetime: row(1, 2, ([x, zone]) =>
    zone === undefined
      ? castNode(x!, 'TIMESTAMP WITH TIME ZONE')
      : call('timezone', zone, castNode(x!, 'TIMESTAMP')),
  ),
  totimezone: row(2, 2, ([x, zone]) => inZone(x!, zone!)),
  ...mapped(
    {
      tostartofsecond: 'second',
      tostartofminute: 'minute',
      tostartofhour: 'hour',
      tostartofday: 'day',
      tomonday: 'week',
      tostartofisoweek: 'week',
      tostartofmonth: 'month',
      tostartofquarter: 'quarter',
      tostartofyear: 'year',
    },
    (unit) => row(1, 2, ([x, zone]) => truncated(unit, x!, zone)),
  ),
  // Weeks begin on Sunday unless the mode is odd.
  tostartofweek: row(1, 3, ([x, mode, zone]) => weekStart(x!, mode, zone)),
  ...mapped(
    { tostartoffiveminutes: 5, tostartoffiveminute: 5, tostartoftenminutes: 10, tostartoffifteenminutes: 15 },
    (minutes) => row(1, 1, ([x]) => call('time_bucket', call('to_minutes', number(minutes)), x!)),
  ),
  tostartofinterval: row(2, 3, ([x, width, zone]) =>
    call('time_bucket', width!, zone === undefined ? x! : inZone(x!, zone)),
  ),
  ...renames(
    { tolastdayofmonth: 'last_day', fromunixtimestamp: 'to_timestamp', tounixtimestamp: 'epoch' },
    1,
  ),
  ...mapped(
    {
      toyear: 'year',
      toquarter: 'quarter',
      tomonth: 'month',
      todayofmonth: 'day',
      tohour: 'hour',
      tominute: 'minute',
      tosecond: 'second',
      todayofweek: 'isodow',
      todayofyear: 'dayofyear',
      toisoweek: 'week',
      toweek: 'week',
    },
    (part) => row(1, 2, ([x, zone]) => call(part, zone === undefined ? x! : inZone(x!, zone))),
  ),
  tounixtimestamp64milli: row(1, 1, ([x]) => call('epoch_ms', x!)),
  toyyyymm: row(1, 1, ([x]) => castNode(call('strftime', x!, textNode('%Y%m')), 'INTEGER')),
  toyyyymmdd: row(1, 1, ([x]) => castNode(call('strftime', x!, textNode('%Y%m%d')), 'INTEGER')),
  now64: row(0, 1, () => call('now')),
  yesterday: row(0, 0, () => infix('-', call('today'), number(1))),
  ...each(units, (unit) => [`tointerval${unit}`, row(1, 1, ([n]) => interval(unit, n!))]),
  ...each(units, (unit) => [`add${unit}s`, row(2, 2, ([x, n]) => infix('+', x!, interval(unit, n!)))]),
  ...each(units, (unit) => [`subtract${unit}s`, row(2, 2, ([x, n]) => infix('-', x!, interval(unit, n!)))]),
  dateadd: row(2, 3, (args) => moved('+', args)),
  datesub: row(2, 3, (args) => moved('-', args)),
  datediff: row(3, 4, (args) => difference(args)),
  date_diff: row(3, 4, (args) => difference(args)),
  formatdatetime: row(2, 3, ([x, format, zone]) =>
    call('strftime', zone === undefined ? x! : inZone(x!, zone), strftimeFormat(format!)),
  ),
}

function each<T extends string>(
  values: readonly T[],
  make: (value: T) => readonly [string, Translations[string]],
): Translations {
  return Object.fromEntries(values.map(make))
}

/** A moment as the clocks of a zone show it. */
function inZone(moment: Ast, zone: Ast): Ast {
  constantText(zone, 'A time zone')
  return call('timezone', zone, castNode(moment, 'TIMESTAMP WITH TIME ZONE'))
}

function truncated(unit: string, x: Ast, zone: Ast | undefined): Ast {
  return call('date_trunc', textNode(unit), zone === undefined ? x : inZone(x, zone))
}

function weekStart(x: Ast, mode: Ast | undefined, zone: Ast | undefined): Ast {
  const given = mode?.class === 'CONSTANT' ? nodeOf(mode.value).value : 0
  const isZone = mode !== undefined && textOf(mode) !== null
  if (isZone) return weekStart(x, undefined, mode)
  if (typeof given === 'number' && given % 2 === 1) return truncated('week', x, zone)
  const day = interval('day', number(1))
  return infix(
    '-',
    truncated('week', infix('+', zone === undefined ? x : inZone(x, zone), day), undefined),
    day,
  )
}

function interval(unit: string, count: Ast): Ast {
  return callNode(`to_${unit}s`, [castNode(count, unit === 'second' ? 'DOUBLE' : 'INTEGER')])
}

/** `dateAdd(day, 3, x)` or `dateAdd(x, interval 3 day)`. */
function moved(operator: '+' | '-', [first, second, third]: readonly Ast[]): Ast {
  if (third === undefined) return infix(operator, first!, second!)
  return infix(operator, third, interval(unitOf(first!), second!))
}

function difference([unit, from, to, zone]: readonly Ast[]): Ast {
  const [start, end] = [from!, to!].map((moment) => (zone === undefined ? moment : inZone(moment, zone)))
  return call('date_diff', textNode(unitOf(unit!)), start!, end!)
}

function strftimeFormat(format: Ast): Ast {
  const text = constantText(format, 'The format of formatDateTime')
  if (text.length > 100) throw refused('The format of formatDateTime is longer than 100 characters')
  return textNode(text.replace(/%([a-zA-Z])/g, (sign, letter: string) => formatSigns[letter] ?? sign))
}
