import t from 'tap'
import { checkApiKey } from '../../src/capture/api-key.ts'

t.test('case 24: names what is wrong with a key', async (t) => {
  const faults: [string, string][] = [
    ['', 'empty'],
    ['  \t\n', 'empty'],
    ['k'.repeat(65), 'too_long'],
    ['ü'.repeat(33), 'too_long'],
    ['phc_😀', 'not_ascii'],
    ['phx_abc', 'personal_api_key'],
    ['phc_a\0b', 'null_byte'],
  ]
  for (const [key, fault] of faults)
    t.same(checkApiKey(key), { kind: 'refused', detail: `API key is not valid: ${fault}` })
})

t.test('case 25: trims a key', async (t) => {
  t.same(checkApiKey('phc_test\n'), { kind: 'ok', apiKey: 'phc_test' })
  t.same(checkApiKey(' phc_test '), { kind: 'ok', apiKey: 'phc_test' })
})

t.test('takes a key of 64 bytes and of any other prefix', async (t) => {
  t.same(checkApiKey('k'.repeat(64)), { kind: 'ok', apiKey: 'k'.repeat(64) })
})
