// What scanning in WebAssembly says of persons, against the plain version of decoding.

import t from 'tap'
import { scanElements } from '../../src/capture/elements-scan.ts'
import { openScan } from '../../src/capture/scan.ts'
import { clearTape, createSpans, createTape, readRecord } from '../../src/capture/span-tape.ts'
import { compareWithPlain } from './compare-batches.ts'
import { geoipFiles } from './geoip-files.ts'
import { alikeTask } from './random-bodies.ts'

const tape = createTape()

/** Runs of each event of an array, as soon as its heads are known; -1 where they are not told. */
function runCounts(text: string): number[] {
  const scan = openScan(new Uint8Array(Buffer.from(text)), true)
  for (let time = 0; time < 3; time++) {
    clearTape(tape)
    scanElements(scan, tape, text.indexOf('['), { resumeAt: -1, count: 0 }, null)
  }
  const spans = createSpans()
  const counts: number[] = []
  for (let at = 0; at < tape.used; counts.push(spans.runCount)) at = readRecord(tape, at, spans)
  return counts
}

const eventOf = (properties: string, more = '') => `{"event":"e","properties":${properties}${more}}`

t.test('tells of the events that SDKs send by the thousand', async (t) => {
  t.same(
    runCounts(`[${eventOf('{"$os":"a","$browser":1,"x":{"$os":1},"$device_type":null,"$groups":{}}')}]`),
    [2],
  )
  t.same(runCounts(`[${eventOf('{"$groups":[],"x":"\\n","$referrer":"r"}')}]`), [1])
  t.same(runCounts(`[${eventOf('{"x":1}')}]`), [0])
})

t.test('leaves all others to JavaScript', async (t) => {
  t.same(runCounts(`[${eventOf('{"$os" :"a"}')}]`), [-1])
  t.same(runCounts(`[${eventOf('{"$os":"a","$set":{}}')}]`), [-1])
  t.same(runCounts(`[${eventOf('{"$os":"a"}', ',"$set_once":{}')}]`), [-1])
  t.same(runCounts(`[${eventOf('{"$os":"\\u0041"}')}]`), [-1])
})

t.test('says what the plain version says', async (t) => {
  const geoip = geoipFiles(t)
  const counts = { rows: 0, parts: 0, persons: 0, pieces: 0, idPlaces: 0, digests: 0 }
  let told = 0
  for (let seed = 0; seed < 70; seed++) {
    const task = alikeTask(seed, geoip)
    // The second time all heads are known.
    for (let time = 0; time < 2; time++) {
      const fault = compareWithPlain(task, counts)
      if (fault !== null) t.fail(`seed ${seed}: ${fault}`)
    }
    told += runCounts(Buffer.from(task.body).toString()).filter((count) => count > 0).length
  }
  t.ok(told > 100 && counts.persons > 400, JSON.stringify({ told, ...counts }))
})
