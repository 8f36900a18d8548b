import t from 'tap'
import { decodeBase64, restorePluses } from '../../src/capture/base64.ts'

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text))
}

t.test('decodes strict base64 of every padding', async (t) => {
  t.same(decodeBase64(bytes('AP//+/8=')), new Uint8Array([0, 255, 255, 251, 255]))
  t.same(decodeBase64(bytes('e30=')), bytes('{}'))
  t.same(decodeBase64(bytes('ew==')), bytes('{'))
  t.same(decodeBase64(bytes('eyB9')), bytes('{ }'))
})

t.test('leaves alone what only resembles base64', async (t) => {
  for (const text of ['', 'e30', 'e30=\n', '{}==', 'e3-_', 'e===', '=e30', 'e=30', 'e30==', '    '])
    t.equal(decodeBase64(bytes(text)), null, JSON.stringify(text))
  const late = `${'A'.repeat(4000)}AA*A`
  t.equal(decodeBase64(bytes(late)), null, 'a fault far from the start')
})

t.test('turns spaces back into pluses in base64 only', async (t) => {
  t.same(restorePluses(bytes('ab /c Q=')), bytes('ab+/c+Q='))
  t.same(restorePluses(bytes('{"a": 1}')), bytes('{"a": 1}'))
})
