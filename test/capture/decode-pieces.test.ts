import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import type { CaptureOutcome, CaptureTask } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { decodePieces, isForPieces } from '../../src/capture/decode-pieces.ts'
import { alikeBodyText, bodyText, eventText } from './event-text.ts'
import { comparableRow, now, rowsOf, task } from './tasks.ts'

const head = '{"api_key":"phc_test","historical_migration":true,"batch":['
const event = '{"event":"e","distinct_id":"u","properties":{"a":"é\\u0000😀\\ud83d\\ude00\\ud83d","b":12}}'
const limits = { sliceBytes: 128, heldBytesMax: 64 * 1024 }

/** A task whose text comes in pieces as long as the slices. */
function packed(text: string | Uint8Array, changes: Partial<CaptureTask> = {}): CaptureTask {
  const body = new Uint8Array(gzipSync(text, { level: 0 }))
  const small = { decompressedBytesMax: 1 << 20, recordBytesMax: 1000, eventBytesMax: 4000 }
  return task('', { body, limits: small, ...changes })
}

function comparable(outcome: CaptureOutcome | null) {
  if (outcome?.kind !== 'captured') return outcome
  const { parts, ...facts } = outcome
  return {
    ...facts,
    rows: rowsOf(outcome).map(comparableRow),
    sizes: parts.map(({ eventCount, identityBornIds }) => [eventCount, identityBornIds]),
  }
}

/** What decoding in pieces makes of a text; throws when the plain version makes something else of it. */
async function pieced(
  text: string | Uint8Array,
  some: Partial<typeof limits> = {},
  changes: Partial<CaptureTask> = {},
) {
  const outcome = comparable(await decodePieces(packed(text, changes), { ...limits, ...some }))
  const expected = comparable(decodeCapture(packed(text, changes)))
  if (outcome !== null && !isDeepStrictEqual(outcome, expected))
    throw new Error(`found ${JSON.stringify(outcome)}\nexpected ${JSON.stringify(expected)}`)
  return outcome
}

t.test('captures what the plain version does, wherever the pieces end', async (t) => {
  const text = `${head} ${[event, event, '12', '{"event":1}', event].join(' , ')} ] , "x":"y\\"" } `
  for (let sliceBytes = 90; sliceBytes < text.length; sliceBytes++) {
    const outcome = await pieced(text, { sliceBytes }, { query: '_=1714564800000&beacon=1' })
    t.match(outcome, {
      historical: true,
      beacon: true,
      eventCount: 3,
      decompressedBytes: Buffer.byteLength(text),
    })
  }
})

t.test('captures what the plain version does of every body, or leaves it alone', async (t) => {
  const counts = { captured: 0, left: 0 }
  const batch = fc
    .array(eventText, { minLength: 1, maxLength: 12 })
    .map((list) => `${head}${list.join(',')}]}`)
  const body = fc.oneof({ weight: 3, arbitrary: batch }, bodyText, alikeBodyText)
  await fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 60, max: 600 }), async (text, sliceBytes) => {
      const outcome = await pieced(text, { sliceBytes })
      counts[outcome === null ? 'left' : 'captured']++
    }),
    { numRuns: 500 },
  )
  t.ok(counts.captured > 100 && counts.left > 50, JSON.stringify(counts))
})

t.test('leaves alone what is said behind the events', async (t) => {
  const body = (tail: string): string => `${head}${event},${event}]${tail}}`
  t.match(await pieced(body(',"api_key":"phc_test","sent_at":null,"historical_migration":true')), {
    eventCount: 2,
  })
  for (const tail of [
    ',"api_key":"phc_private"',
    ',"sent_at":"2024-05-01T12:00:00Z"',
    ',"historical_migration":false',
    ',"batch":[{"event":"other","distinct_id":"u"}]',
    ',"batch":7',
    ',"x":"\\x"',
    ',',
    '} {',
  ])
    t.equal(await pieced(body(tail)), null, tail)
  t.match(await pieced(`{"sent_at":"2024-05-01T11:00:00Z",${body('').slice(1)}`), { eventCount: 2 })
})

t.test('leaves alone what is no batch of a known project', async (t) => {
  for (const text of [
    '',
    ' ',
    '[]',
    `[${event}]`,
    event,
    `{"batch":[${event}],"api_key":"phc_test"}`,
    '{"api_key":"phc_test","batch":[]}',
    `{"api_key":"phc_test","batch":[${event},]}`,
    `{"api_key":"phc_test","batch":[${event}`,
    `{"api_key":"phc_unknown","batch":[${event}]}`,
    `{"api_key":"phx_test","batch":[${event}]}`,
    `{"api_key":"phc_over","batch":[${event}]}`,
    `{"api_key":"phc_test" "batch":[${event}]}`,
    `\ufeff${head}${event}]}`,
  ])
    t.equal(await pieced(text), null, text)
  t.equal(await pieced(`${head}${event}]}`, {}, { query: 'data=e30' }), null)
})

t.test('leaves alone text that is not UTF-8, wherever it is not', async (t) => {
  const long = `"x":"${'-'.repeat(200)}"`
  const text = Buffer.from(`{${long},${head.slice(1)}${event},${event},${event}],${long}}`)
  t.match(await pieced(text, { sliceBytes: 400 }), { eventCount: 3 })
  for (const place of [10, 330, 480, text.length - 20]) {
    const damaged = Buffer.from(text)
    damaged[place] = 0xff
    t.equal(await pieced(damaged, { sliceBytes: 400 }), null, `at ${place}`)
  }
})

t.test('holds events up to a limit', async (t) => {
  const body = (size: number): string => `${head}${event},{"x":"${'-'.repeat(size - 8)}"},${event}]}`
  t.match(await pieced(body(3000), { heldBytesMax: 6400 }), { eventCount: 2 })
  t.equal(await pieced(body(6400), { heldBytesMax: 6400 }), null)
  const changes = (decompressedBytesMax: number): Partial<CaptureTask> => ({
    limits: { decompressedBytesMax, recordBytesMax: 1000, eventBytesMax: 4000 },
  })
  const text = body(500)
  t.match(
    await pieced(text, {}, changes(text.length + 6)),
    { eventCount: 2 },
    'two letters of six are longer',
  )
  t.equal(await pieced(text, {}, changes(text.length + 5)), null)
})

t.test('is for large gzip bodies on paths without base64', async (t) => {
  const body = new Uint8Array(gzipSync(Buffer.alloc(8 * 1024 * 1024)))
  const small = new Uint8Array(gzipSync(Buffer.alloc(8 * 1024 * 1024 - 1)))
  t.same(
    [isForPieces(task('', { body })), isForPieces(task('', { body: small })), isForPieces(task('x'))],
    [true, false, false],
  )
  t.equal(isForPieces(task('', { body, path: '/capture' })), false)
  t.match(comparable(await decodePieces(packed(`${head}${event}]}`))), { rows: [{ micros: now * 1000 }] })
})
