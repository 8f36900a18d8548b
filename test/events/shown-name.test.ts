import t from 'tap'
import { distinctName, ownNameMark, shownName } from '../../src/events/shown-name.ts'

t.test('takes off the mark of a name that a query did not give, and nothing else', (t) => {
  t.equal(shownName(`${ownNameMark}count()`), 'count()')
  t.equal(shownName(ownNameMark), '')
  t.equal(shownName(`a${ownNameMark}`), `a${ownNameMark}`)
  t.equal(shownName(''), '')
  t.end()
})

t.test('tells names apart that come twice, in whatever case', (t) => {
  const names = new Set<string>()
  const distinct = ['a', 'A', 'b', 'a', 'a_1'].map((name) => distinctName(name, names))
  t.strictSame(distinct, ['a', 'A_1', 'b', 'a_2', 'a_1_1'])
  t.end()
})
