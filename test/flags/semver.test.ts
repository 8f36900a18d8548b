import t from 'tap'
import { comparesVersions, type SemverOperator } from '../../src/flags/semver.ts'

function matching(operator: SemverOperator, wanted: unknown, values: readonly unknown[]): unknown[] {
  return values.filter(comparesVersions(wanted, operator))
}

const versions = ['0.0.3', '0.0.4', '0.2.3', '0.3.0', '1.0.0', '1.2.2', '1.2.3', '1.2.9', '1.3.0', '2.0.0']

t.test('versions are ordered by number, part by part', async (t) => {
  t.same(matching('eq', '1.2.3', versions), ['1.2.3'])
  t.equal(matching('neq', '1.2.3', versions).length, versions.length - 1)
  t.same(matching('gt', '1.2.9', versions), ['1.3.0', '2.0.0'])
  t.same(matching('gte', '1.3.0', versions), ['1.3.0', '2.0.0'])
  t.same(matching('lt', '0.2.3', versions), ['0.0.3', '0.0.4'])
  t.same(matching('lte', '0.0.4', versions), ['0.0.3', '0.0.4'])
  t.same(matching('gt', '1.9.0', ['1.10.0']), ['1.10.0'])
})

t.test('a tilde leaves the last part open, a caret all behind the first that is not 0', async (t) => {
  t.same(matching('tilde', '1.2.3', versions), ['1.2.3', '1.2.9'])
  t.same(matching('caret', '1.2.3', versions), ['1.2.3', '1.2.9', '1.3.0'])
  t.same(matching('caret', '0.2.3', versions), ['0.2.3'])
  t.same(matching('caret', '0.0.3', versions), ['0.0.3'])
})

t.test('a star stands for any part', async (t) => {
  t.same(matching('wildcard', '1.*', versions), ['1.0.0', '1.2.2', '1.2.3', '1.2.9', '1.3.0'])
  t.same(matching('wildcard', '1.2.*', versions), ['1.2.2', '1.2.3', '1.2.9'])
  t.same(matching('wildcard', '1.*.*', versions), ['1.0.0', '1.2.2', '1.2.3', '1.2.9', '1.3.0'])
  for (const wanted of ['*', '1.2', '1.2.3.*', 1, '1.x'])
    t.same(matching('wildcard', wanted, versions), [], String(wanted))
})

t.test('a v, a pre-release and a build do not count, and missing parts are 0', async (t) => {
  const same = ['1.2.0', 'v1.2.0', 'V1.2', '1.2.0-rc.1', '1.2.0+build', ' 1.2 ', '1.2.0.9']
  t.same(matching('eq', '1.2', same), same)
  t.same(matching('eq', '2', [2]), [2])
})

t.test('what is no version matches nothing, not even neq', async (t) => {
  const others = ['', 'one', '01.2.3', '1..2', '1.2.', null, true, ['1'], '1.-2', '9'.repeat(16)]
  t.same(matching('neq', '1.2.3', others), [])
  for (const wanted of others) t.same(matching('neq', wanted, ['1.2.3']), [], JSON.stringify(wanted))
})
