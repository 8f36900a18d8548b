import t from 'tap'
import { compilePattern } from '../../src/flags/pattern.ts'

t.test('a pattern is searched anywhere', async (t) => {
  const pattern = compilePattern('b+')!
  t.equal(pattern.search('abbc'), 'found')
  t.equal(pattern.search('ac'), 'absent')
})

t.test('a pattern or a text beyond the limits is not searched', async (t) => {
  t.equal(compilePattern('(?<!a)b'), null, 'not regular')
  t.equal(compilePattern('a'.repeat(1025)), null)
  t.equal(compilePattern('a'.repeat(1024))!.search('a'.repeat(1024)), 'found')
  t.equal(compilePattern('.{1000}.{1000}.{1000}'), null, 'compiles to too much')
  t.equal(compilePattern('a')!.search('a'.repeat(8192)), 'found')
  t.equal(compilePattern('a')!.search('a'.repeat(8193)), 'unsearched')
})

t.test('a pattern that backtracks for ever elsewhere is searched in linear time', async (t) => {
  t.equal(compilePattern('(a*)*(a|aa)*b')!.search('a'.repeat(8192)), 'absent')
})
