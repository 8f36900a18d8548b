import t from 'tap'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import {
  createPieces,
  nextPiece,
  openPieces,
  PieceWriter,
  personText,
} from '../../src/capture/person-pieces.ts'
import { TextArena } from '../../src/capture/text-arena.ts'
import { captured, row } from './tasks.ts'

const none = new Uint8Array(0)

/** The pieces of the only event that capture makes of `event`. */
function piecesOf(event: object): string[] {
  const [part] = captured({ api_key: 'phc_test', batch: [{ event: 'e', distinct_id: 'u', ...event }] }).parts
  const batch = openEventBatch(part?.payload ?? none)
  const pieces = createPieces()
  openPieces(pieces, batch, 0)
  const texts: string[] = []
  while (nextPiece(pieces))
    texts.push(Buffer.from(pieces.bytes.subarray(pieces.start, pieces.end)).toString())
  return texts
}

t.test('members that stand together in the properties are one piece', async (t) => {
  const properties = { a: 1, $os: 'iOS', $browser: 'B', b: 2, $pathname: '/', $set: { x: 1 } }
  t.same(piecesOf({ properties }), ['"$os":"iOS","$browser":"B"', '"$pathname":"/","$set":{"x":1}'])
})

t.test('what is put into the properties is found there', async (t) => {
  const properties = { $os: 'iOS', $set: { x: 1 }, $browser: 'B' }
  t.same(piecesOf({ $set: { y: 2 }, $set_once: { z: 3 }, $unset: ['a'], properties }), [
    '"$os":"iOS","$browser":"B","$set":{"x":1,"y":2},"$set_once":{"z":3},"$unset":["a"]',
  ])
  t.same(piecesOf({ $set: { y: 2 } }), ['"$set":{"y":2}'])
})

t.test('what was taken out in front moves the others', async (t) => {
  const properties = { $elements_chain: 'a', $os: 'iOS', $ip: '', n: 1, $elements: [], $browser: 'B' }
  t.same(piecesOf({ properties }), ['"$os":"iOS"', '"$browser":"B"'])
})

t.test('a member that is not printed compactly is written out', async (t) => {
  const text = `{"api_key":"phc_test","batch":[{"event":"e","distinct_id":"u","properties":{"\\u0024os":"iOS",
    "$browser" : 1 , "$os_version": [1, 2],"$pathname":"/"}}]}`
  const [part] = captured(text).parts
  const batch = openEventBatch(part?.payload ?? none)
  t.equal(personText(batch, 0), '{"$os":"iOS","$browser":1,"$os_version":[1, 2],"$pathname":"/"}')
})

t.test('a closing quote as far from the value as the opening one would be is told from it', async (t) => {
  for (const key of ['$os', '$set', '$browser_version', 'alias', 'utm_source']) {
    const properties = `{"${key}"${' '.repeat(key.length + 1)}:{}}`
    const event = `{"event":"$create_alias","distinct_id":"u","properties":${properties}}`
    const [part] = captured(`{"api_key":"phc_test","batch":[${event}]}`).parts
    t.equal(personText(openEventBatch(part?.payload ?? none), 0), `{"${key}":{}}`)
  }
})

t.test('nothing to say is nothing', async (t) => {
  t.same(piecesOf({ properties: { a: 1 } }), [])
  t.equal(row({ event: 'e', distinct_id: 'u', properties: { a: 1 } }).person, '')
})

t.test('writes places and texts as the format says', async (t) => {
  const target = new TextArena(8)
  const writer = new PieceWriter()
  writer.begin(target)
  writer.addPlace(1, 10)
  writer.addPlace(11, 20)
  writer.addPlace(300, 500)
  writer.addText(Buffer.from('"k":'), Buffer.from('..12..'), 2, 4)
  writer.addPlace(501, 502)
  writer.end()
  // 19 bytes at 1; 200 bytes, 280 behind them; a text of 6; one byte, one behind.
  const text = [...Buffer.from('"k":12\u001e')]
  t.same([...target.bytes.subarray(0, target.size)], [38, 1, 0x90, 3, 0x98, 2, 13, ...text, 2, 1])
})
