import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { openWorld } from './world.ts'

const { ask } = await openWorld(t)

async function check(
  rows: readonly (readonly [expression: string, value: unknown])[],
  from = '',
): Promise<void> {
  for (const [expression, value] of rows) {
    const answer = await ask(`select ${expression} ${from}`).catch((error: unknown) => String(error))
    t.strictSame(answer, [[value]], expression)
  }
}

const noon = "toDateTime('2024-05-01 12:34:56')"
const zone = "'America/New_York'"

t.test('times', () =>
  check([
    ["toDate('2024-05-01')", '2024-05-01'],
    [`toDate(toDateTime('2024-05-01 02:00:00'), ${zone})`, '2024-04-30'],
    [`toDateTime('2024-05-01 12:00:00', ${zone}) = toDateTime('2024-05-01 16:00:00')`, true],
    [`toString(toTimeZone(${noon}, ${zone}))`, '2024-05-01 08:34:56'],
    [`toStartOfDay(${noon}) = toDateTime('2024-05-01')`, true],
    [`toString(toStartOfDay(toDateTime('2024-05-01 02:00:00'), ${zone}))`, '2024-04-30 00:00:00'],
    [`toStartOfHour(${noon}) = toDateTime('2024-05-01 12:00:00')`, true],
    [`toStartOfMonth(${noon}) = toDateTime('2024-05-01')`, true],
    // 1 May 2024 is a Wednesday.
    [`toStartOfWeek(${noon}) = toDateTime('2024-04-28')`, true],
    [`toStartOfWeek(${noon}, 1) = toDateTime('2024-04-29')`, true],
    [`toMonday(${noon}) = toDateTime('2024-04-29')`, true],
    [`toStartOfFifteenMinutes(${noon}) = toDateTime('2024-05-01 12:30:00')`, true],
    [`toStartOfInterval(${noon}, interval 2 hour) = toDateTime('2024-05-01 12:00:00')`, true],
    [`toStartOfInterval(${noon}, toIntervalMinute(20)) = toDateTime('2024-05-01 12:20:00')`, true],
    [`dateDiff('day', toDateTime('2024-04-29'), ${noon})`, '2'],
    [`dateDiff(hour, toDateTime('2024-05-01'), ${noon})`, '12'],
    [`addDays(${noon}, 2) = toDateTime('2024-05-03 12:34:56')`, true],
    [`subtractMonths(${noon}, 1) = toDateTime('2024-04-01 12:34:56')`, true],
    [`dateAdd(day, 1, ${noon}) = dateSub('hour', -24, ${noon})`, true],
    [`dateAdd(${noon}, interval 1 day) = ${noon} + toIntervalDay(1)`, true],
    ['now() - interval 1 day < now64() and yesterday() < today()', true],
    [`formatDateTime(${noon}, '%Y-%m-%d %H:%i:%S')`, '2024-05-01 12:34:56'],
    [`formatDateTime(${noon}, '%F %T', ${zone})`, '2024-05-01 08:34:56'],
    [`toHour(${noon}), `.replace(', ', ''), '12'],
    [`toDayOfWeek(${noon})`, '3'],
    [`toYYYYMM(${noon})`, 202405],
    [`toUnixTimestamp(${noon})`, 1714566896],
    ["toDateTimeOrNull('x')", null],
    ["toStartOfDay(parseDateTimeBestEffort('2024-05-01T12:00:00Z')) = toDateTime('2024-05-01')", true],
  ]),
)

t.test('texts, numbers, lists and JSON', () =>
  check([
    ["toInt('7') + toInt64('1')", '8'],
    ["toIntOrZero('x')", '0'],
    ["toFloat('1.5')", 1.5],
    ["toFloatOrDefault('x', 2.5)", 2.5],
    ["toBool('true')", true],
    ['toString(5)', '5'],
    ["cast('5' as Int64)", '5'],
    ['5::String', '5'],
    ["if(1 = 1, 'a', 'b')", 'a'],
    ["multiIf(1 = 2, 'a', 2 = 2, 'b', 'c')", 'b'],
    ["ifNull(null, 'x')", 'x'],
    ["coalesce(null, nullIf('a', 'a'), 'y')", 'y'],
    ["concat('a', 'b')", 'ab'],
    ["lower('ÄB') = lowerUTF8('äb')", true],
    ["match('browser 12', '[0-9]+')", true],
    ["extract('browser 12', 'r ([0-9])')", '1'],
    ["replaceRegexpAll('a1b2', '[0-9]', '-')", 'a-b-'],
    ["replaceAll('aba', 'a', 'c')", 'cbc'],
    ["'Firefox' ilike 'fire%' and notLike('a', 'b%')", true],
    ["positionCaseInsensitive('abC', 'c')", '3'],
    ["domain('https://me@example.com:80/a?b')", 'example.com'],
    ["path('https://example.com/a/b?c')", '/a/b'],
    ["cutQueryString('https://example.com/a?b')", 'https://example.com/a'],
    ["splitByChar(',', 'a,b')[2]", 'b'],
    ["arrayStringConcat(splitByChar(',', 'a,b'), '-')", 'a-b'],
    ['has([1, 2], 2)', true],
    ["length([1, 2]) + length(splitByString('--', 'a--b'))", '4'],
    ['arrayUniq([1, 1, 2])', '2'],
    ['arraySum([1, 2])', '3'],
    ['indexOf([5, 6], 6)', 2],
    ["empty('') and notEmpty('x') and empty([])", true],
    ['intDiv(7, 2) + modulo(7, 4)', 6],
    ['greaterOrEquals(2, 2) and not less(2, 2)', true],
    ["not isNull('x')", true],
  ]).then(() =>
    check(
      [
        ["JSONExtractInt(properties, 'number')", '1'],
        ["JSONExtract(properties, 'number', 'Nullable(Float64)')", 1],
        ["JSONExtractString(properties, 'deep', 'a\"b/c')", 'found'],
        ["JSONHas(properties, 'plan') and not JSONHas(properties, 'other')", true],
        ["JSONExtractBool(properties, 'plan')", null],
        ["length(JSONExtractKeys(properties, 'deep'))", '1'],
        ["JSONExtractArrayRaw(properties, 'plan')", []],
      ],
      "from events where event = 'event 1'",
    ),
  ),
)

t.test('aggregates', () =>
  check(
    [
      ['count()', '3'],
      ['uniq(event)', '3'],
      ['uniqExact(event, distinct_id)', '3'],
      ['count(distinct event)', '3'],
      ["countIf(event = 'event 1')", '1'],
      ["sumIf(toInt(properties.number), event != 'event 1')", '2'],
      ["avgIf(toInt(properties.number), event != 'event 1')", 1],
      ["uniqIf(event, event != 'event 1')", '2'],
      ['any(distinct_id)', 'our secret'],
      ['argMax(event, timestamp)', 'event 2'],
      ["argMinIf(event, timestamp, event != 'event 0')", 'event 1'],
      ['quantile(0.5)(toInt(properties.number))', 1],
      ["quantileIf(0.5)(toInt(properties.number), event != 'event 0')", 1.5],
      ['quantiles(0, 1)(toInt(properties.number))', [0, 2]],
      ['median(toInt(properties.number))', 1],
      ['length(groupArray(event)) + length(groupUniqArray(distinct_id))', '4'],
      ["arrayStringConcat(groupArray(event order by event), ' ')", 'event 0 event 1 event 2'],
    ],
    'from events',
  ),
)

t.test('rows of a list', async (t) => {
  t.strictSame(await ask("select arrayJoin(splitByChar(',', 'a,b')) x order by x"), [['a'], ['b']])
})

t.test('lists of many rows do not grow', async (t) => {
  for (const sql of [
    `select concat(toString(groupArray(properties)), toString(groupArray(event)), event, event, event)
     from events group by event`,
    'select arrayStringConcat(groupArray(properties), properties) from events group by properties',
    "select arrayStringConcat(groupArray(properties), ', and then ') from events",
    'select splitByChar(event, arrayStringConcat(groupArray(properties))) from events group by event',
  ]) {
    const error = await ask(sql).catch((thrown: unknown) => thrown)
    t.ok(isServiceError(error, 'invalid_input'), `${sql}: ${String(error)}`)
  }
})
