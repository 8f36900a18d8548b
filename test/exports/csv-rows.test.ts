import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { csvRows, csvText, type Row } from '../../src/exports/csv-rows.ts'
import { tameNumbers } from '../../src/exports/tamed-numbers.ts'
import { duckdb, folder } from './staged.ts'

async function read(t: Test, text: string) {
  const path = join(folder(t), 'rows.csv')
  writeFileSync(path, text)
  return await rowsOf(path)
}

async function rowsOf(path: string): Promise<Row[]> {
  const rows: Row[] = []
  for await (const row of csvRows(path)) rows.push(row)
  return rows
}

t.test('rows come after the header, with quotes, line feeds, empty texts and nulls', async (t) => {
  t.same(await read(t, 'a,b\n1,x\n"q ""q"" ""","l\nf,"\n,""\n""""""\n'), [
    ['1', 'x'],
    ['q "q" "', 'l\nf,'],
    [null, ''],
    ['""'],
  ])
  t.same(await read(t, 'a\n'), [])
  t.same(await read(t, ''), [])
  for (const torn of ['a\n1', 'a\n"1', 'a\n"1"', 'a\n1,'])
    await t.rejects(read(t, torn), { message: 'the staged file ends inside a row' }, torn)
})

t.test('rows longer than a piece of the file come whole', async (t) => {
  const long = 'ü"'.repeat(400_000)
  t.same(await read(t, `a,b\n${csvText([long, null])}${csvText(['', long])}`), [
    [long, null],
    ['', long],
  ])
})

t.test('what DuckDB writes is read as what it was', async (t) => {
  const texts = [
    '',
    '"',
    '""',
    'a"b',
    ',',
    '\n',
    '\r\n',
    ' ',
    'NULL',
    '\\N',
    "'",
    'a,b\n"c"',
    '\u00a0',
    '-',
    '#x',
  ]
  const path = join(folder(t), 'rows.csv')
  const list = texts.map((text) => `('${text.replaceAll("'", "''")}', null)`).join(', ')
  await duckdb(`copy (select * from (values ${list}) as rows(a, b)) to '${path}' (format csv, header)`)
  t.same(
    await rowsOf(path),
    texts.map((text) => [text, null]),
  )
})

t.test('numbers that jsonb does not hold become text, and nothing else does', async (t) => {
  const digits = '1'.repeat(1_001)
  t.equal(
    tameNumbers(`{"1e9999":[1e9999,-1E-9999,${digits},1e308,0.5,-7],"s":"1e9999 \\" 1e9999",  "t":true}`),
    `{"1e9999":["1e9999","-1E-9999","${digits}",1e308,0.5,-7],"s":"1e9999 \\" 1e9999",  "t":true}`,
  )
})
