import t from 'tap'
import { isIllegalId } from '../../src/identity/illegal-ids.ts'

t.test('knows the ids that nobody is called (77)', async (t) => {
  const illegal = [
    '',
    '   ',
    '\t\n',
    'null',
    'undefined',
    '"undefined"',
    "'undefined'",
    '[object Object]',
    '"[object Object]"',
  ]
  for (const id of illegal) t.ok(isIllegalId(id), JSON.stringify(id))
})

t.test('takes some in any case and some only as written (78)', async (t) => {
  const verdicts: [string, boolean][] = [
    ['guest', true],
    ['GUEST', true],
    ['Anonymous', true],
    ['TRUE', true],
    ['false', true],
    ['Not_Authenticated', true],
    ['NaN', true],
    ['nan', false],
    ['None', true],
    ['none', true],
    ['NONE', false],
    ['NULL', false],
    ['0', true],
    ['00', false],
    [' guest', false],
    ['user-1', false],
    ['undefined1', false],
  ]
  for (const [id, isIllegal] of verdicts) t.equal(isIllegalId(id), isIllegal, id)
})
