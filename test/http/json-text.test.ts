import t from 'tap'
import { readJsonText } from '../../src/http/json-text.ts'

const limits = { depthMax: 2, tokensMax: 6 }

function read(text: string | Uint8Array) {
  return readJsonText(new Uint8Array(Buffer.from(text)), limits)
}

t.test('decodes what is within its limits, and names the one that is not', async (t) => {
  t.same(await read('[[1,2,3]]'), { kind: 'text', text: '[[1,2,3]]' })
  t.same(await read('[[[1]]]'), { kind: 'fault', reason: 'nesting is deeper than 2 levels' })
  t.same(await read('[1,2,3,4,5,6]'), { kind: 'text', text: '[1,2,3,4,5,6]' })
  t.same(await read('[1,2,3,4,5,6,7]'), {
    kind: 'fault',
    reason: 'it has more than 6 brackets, commas and colons',
  })
})

t.test('shows what is no UTF-8 as replaced', async (t) => {
  t.same(await read(Buffer.from([0x22, 0xff, 0x22])), { kind: 'text', text: '"\ufffd"' })
})

t.test('decodes a large one the same', async (t) => {
  const text = JSON.stringify('é'.repeat(100_000))
  t.same(await read(text), { kind: 'text', text })
})
