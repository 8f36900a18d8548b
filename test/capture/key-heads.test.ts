import t from 'tap'
import { Property, propertyIndex } from '../../src/capture/event-keys.ts'
import {
  createHeads,
  followHead,
  type KeyHeads,
  learnHead,
  meetName,
  noHead,
  openHeads,
  strangeHead,
} from '../../src/capture/key-heads.ts'
import { openScan } from '../../src/capture/scan.ts'
import { propertiesOf, row, rows } from './tasks.ts'

/** Teaches `heads` the head that `text` begins with, the name in its first quotes. */
function learn(heads: KeyHeads, before: number, text: string): number {
  const start = text.indexOf('"') + 1
  const scan = openScan(new Uint8Array(Buffer.from(`${text}1`)), false)
  return learnHead(scan, heads, before, 0, start, text.indexOf('"', start), text.length)
}

function follow(heads: KeyHeads, before: number, text: string): number {
  return followHead(openScan(new Uint8Array(Buffer.from(text)), false), heads, before, 0)
}

t.test('guesses heads by what followed before, and tells where the value is', async (t) => {
  const heads = createHeads(propertyIndex)
  const first = learn(heads, noHead, '{"$ip":')
  const second = learn(heads, first, ', "plan" : ')
  t.equal(follow(heads, noHead, '{"$ip":1'), first)
  t.same([heads.place, heads.key], [7, Property.$ip])
  t.equal(follow(heads, first, ', "plan" : 1'), second)
  t.same([heads.place, heads.key], [11, -1])
  t.equal(follow(heads, first, ',"plan":1'), noHead)
  t.equal(follow(heads, first, ', "plan" :'), noHead, 'nothing stands behind it')
  t.equal(follow(heads, second, ', "plan" : 1'), noHead, 'it did not follow itself')
})

t.test('takes a head that is followed by white space for none', async (t) => {
  const heads = createHeads(propertyIndex)
  learn(heads, noHead, '{"a":')
  t.equal(follow(heads, noHead, '{"a": 1'), noHead)
  const spaced = learn(heads, noHead, '{"a": ')
  t.equal(follow(heads, noHead, '{"a": 1'), spaced)
  t.equal(follow(heads, noHead, '{"a": \n1'), noHead)
  const texts = ['"plan":1', '"plan": 2', '"plan":  3', '"plan" :4'].map((text) => `{"properties":{${text}}}`)
  const batch = texts.map((text) => text.replace('{', '{"event":"e","distinct_id":"u",'))
  const stored = rows(`{"api_key":"phc_test","batch":[${batch}]}`).map(
    (one) => JSON.parse(one.properties).plan,
  )
  t.same(stored, [1, 2, 3, 4])
})

t.test('tries the four heads that followed last', async (t) => {
  const heads = createHeads(propertyIndex)
  const names = ['a', 'b', 'c', 'd', 'e']
  const learned = names.map((name) => learn(heads, noHead, `{"${name}":`))
  const found = names.map((name) => follow(heads, noHead, `{"${name}":1`))
  t.same(found, [noHead, ...learned.slice(1)])
  t.equal(learn(heads, noHead, '{"a":'), learned[0])
  t.equal(follow(heads, noHead, '{"b":1'), noHead)
})

t.test('knows a name again, however it is printed', async (t) => {
  const heads = createHeads(propertyIndex)
  const plain = learn(heads, noHead, ',"a":')
  const spaced = learn(heads, noHead, ', "a" :')
  const other = learn(heads, noHead, ',"b":')
  t.notSame(plain, spaced)
  t.same(
    [plain, spaced, other, plain].map((head) => meetName(heads, head, 7)),
    [true, false, true, false],
  )
  t.ok(meetName(heads, spaced, 8))
  t.notOk(meetName(heads, strangeHead, 8))
})

t.test('adds none where there is no room, and forgets all before the next object', async (t) => {
  const heads = createHeads(propertyIndex)
  const first = learn(heads, noHead, '{"$ip":')
  t.equal(learn(heads, first, `,"${'x'.repeat(70_000)}":`), strangeHead)
  t.equal(learn(heads, first, ',"$set":'), strangeHead)
  t.equal(heads.key, Property.$set)
  t.equal(learn(heads, noHead, '{"$ip":'), first)
  openHeads(heads)
  t.equal(follow(heads, noHead, '{"$ip":1'), noHead)
  t.not(learn(heads, noHead, '{"$ip":'), strangeHead)
  for (let index = 0; index < 1022; index++) learn(heads, noHead, `,"${index}":`)
  t.equal(learn(heads, noHead, ',"last":'), strangeHead)
})

t.test('does not walk long runs of slots', async (t) => {
  const heads = createHeads(propertyIndex)
  heads.slots.fill(learn(heads, noHead, '{"a":'))
  t.equal(learn(heads, noHead, '{"b":'), strangeHead)
  t.ok(heads.isFull)
})

t.test('keeps the last of a name that comes twice, with more names than there is room for', async (t) => {
  const names = Array.from({ length: 3000 }, (_, index) => `name ${index}`)
  const text = [...names, 'name 5', 'name 2999'].map((name, index) => `"${name}":${index}`).join(',')
  const stored = propertiesOf(JSON.parse(`{"event":"e","distinct_id":"u","properties":{${text}}}`))
  const raw = `{"api_key":"phc_test","batch":[{"event":"e","distinct_id":"u","properties":{${text}}}]}`
  const [only] = rows(raw)
  t.same(JSON.parse(only?.properties ?? ''), stored)
  t.same([stored['name 5'], stored['name 2999'], stored['name 7']], [3000, 3001, 7])
})

t.test('keeps the last of a name that comes twice with other white space', async (t) => {
  const event = (properties: string) => `{"event":"e","distinct_id":"u","properties":${properties}}`
  const [one, two, three] = rows(
    `{"api_key":"phc_test","batch":[${event('{"a":1,"b":2}')},${event('{"b":1, "a":2}')},${event('{"a":1, "a":2}')}]}`,
  )
  t.match(JSON.parse(one?.properties ?? ''), { a: 1, b: 2 })
  t.match(JSON.parse(two?.properties ?? ''), { a: 2, b: 1 })
  t.match(JSON.parse(three?.properties ?? ''), { a: 2 })
})

t.test('keeps properties where their keys have white space around', async (t) => {
  const stored = row({ event: 'e', distinct_id: 'u', properties: {} }).person
  t.equal(stored, '')
  const body = (properties: string) =>
    `{"api_key":"phc_test","batch":[{"event":"e","distinct_id":"u","properties":${properties}}]}`
  for (const text of ['{"$os":1,"$browser":2}', '{ "$os":1 ,"$browser":2}', '{"$os" :1, "$browser" : 2 }']) {
    t.same(JSON.parse(rows(body(text))[0]?.person ?? ''), { $os: 1, $browser: 2 })
  }
})
