import t from 'tap'
import { jsonShapeFault } from '../../src/lib/json-shape.ts'

const faultOf = (text: string, depthMax: number, tokensMax?: number) =>
  jsonShapeFault(Buffer.from(text), depthMax, tokensMax)

t.test('finds text that is nested too deep', async (t) => {
  t.equal(faultOf('[[[]]]', 3), null)
  t.equal(faultOf('[[[[]]]]', 3), 'depth')
  t.equal(faultOf('{"a":{"b":[]}}', 3), null)
  t.equal(faultOf('{"a":{"b":[{}]}}', 3), 'depth')
  t.equal(faultOf('[{},{},{},{}]', 2), null, 'beside each other is not within')
})

t.test('finds text that has too many values', async (t) => {
  t.equal(faultOf('[1,2,3,4]', 9, 4), null)
  t.equal(faultOf('[1,2,3,4]', 9, 3), 'tokens')
  t.equal(faultOf('{"a":1,"b":2}', 9, 4), null)
  t.equal(faultOf('{"a":1,"b":2}', 9, 3), 'tokens')
  t.equal(faultOf('[[],[]]', 9, 4), null)
  t.equal(faultOf('[[],[]]', 9, 3), 'tokens')
})

t.test('looks into no string', async (t) => {
  for (const text of ['"[[[["', '"\\"[[["', '"\\\\\\"[[,,::"', '"é[{,', '"[\\'])
    t.equal(faultOf(text, 1, 1), null)
  t.equal(faultOf('"\\\\"[[', 1), 'depth', 'behind the end of one it does')
  t.equal(faultOf('', 1), null)
})
