import t from 'tap'
import { pagesOf } from '../../src/exports/copied-pages.ts'

const mebibyte = 1024 * 1024
const sizes = (...pages: number[]) => pagesOf(pages.map((bytes) => ({ bytes }))).map((page) => page.length)

t.test('pages end at 5,000 rows or 4 MiB, and hold a row whatever it is', async (t) => {
  t.strictSame(sizes(), [])
  t.strictSame(sizes(9 * mebibyte, 1), [1, 1])
  t.strictSame(sizes(3 * mebibyte, mebibyte, 1), [2, 1])
  t.strictSame(sizes(...Array(5_001).fill(1)), [5_000, 1])
})
