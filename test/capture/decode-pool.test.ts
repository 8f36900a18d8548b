import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { CaptureTask, DecodedRequest } from '../../src/capture/capture-task.ts'
import { openDecodePool } from '../../src/capture/decode-pool.ts'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import { encodeProjects } from '../../src/capture/projects.ts'
import { textValue } from '../../src/capture/text-column.ts'
import type { JournalPart } from '../../src/journal/journal.ts'
import { partsOf } from '../journal/memory-journal.ts'

const projects = encodeProjects([{ id: 7, apiKey: 'phc_known', anonymizeIps: false, overQuota: false }])

function taskOf(body: Uint8Array): CaptureTask {
  return {
    path: '/batch',
    query: '',
    contentType: '',
    contentEncoding: '',
    body: new Uint8Array(body),
    clientIp: '',
    receivedAtMs: 1714564800000,
    projects,
    geoip: null,
    limits: { decompressedBytesMax: 160e6, recordBytesMax: 8e6, eventBytesMax: 20e6 },
  }
}

function chainOf(outcome: DecodedRequest): readonly JournalPart[] {
  if (outcome.kind !== 'captured' || outcome.events === null) throw new Error(`no events: ${outcome.kind}`)
  return partsOf(outcome.events.chain)
}

t.test('decodes in a thread and moves the result back', async (t) => {
  const pool = openDecodePool(1)
  t.teardown(() => pool.close())
  const body = gzipSync('{"api_key":"phc_known","batch":[{"event":"e","distinct_id":"u"}]}')
  const running = pool.run(taskOf(body))
  t.equal(pool.queuedBytes(), body.byteLength)
  const outcome = await running
  t.equal(pool.queuedBytes(), 0)
  const batch = openEventBatch(chainOf(outcome)[0]!.payload)
  t.equal(batch.header.projectId, 7)
  t.equal(textValue(batch.text.distinctId, 0), 'u')
})

t.test('leaves the memory that a body shares with others where it is', async (t) => {
  const pool = openDecodePool(1)
  t.teardown(() => pool.close())
  const shared = Buffer.from('before{"api_key":"phc_other","event":"e","distinct_id":"u"}after')
  const own = new Uint8Array(shared) // at the start of its own memory
  const body = own.subarray(6, own.length - 5)
  const outcome = await pool.run({ ...taskOf(shared), body })
  t.match(outcome, { kind: 'unknown_key', apiKey: 'phc_other' })
  t.equal(Buffer.from(own).toString(), shared.toString())
})

t.test('decodes large gzip bodies, and says what is wrong with them', async (t) => {
  const pool = openDecodePool(1)
  t.teardown(() => pool.close())
  const events = Array.from({ length: 9000 }, (_, index) => {
    return `{"event":"e","distinct_id":"${index}","properties":{"x":"${'-'.repeat(1000)}"}}`
  })
  const body = (tail: string): Uint8Array =>
    gzipSync(`{"api_key":"phc_known","batch":[${events.join(',')}${tail}`)
  for (const tail of [']}', '],"historical_migration":true}']) {
    const outcome = await pool.run(taskOf(body(tail)))
    t.match(outcome, { kind: 'captured', eventCount: 9000, historical: tail !== ']}' })
    t.match(outcome, { events: { chain: { bytesMax: Number } } }, 'what they come to is not opened here')
    const batch = openEventBatch(chainOf(outcome).at(-1)!.payload)
    t.equal(textValue(batch.text.distinctId, batch.header.count - 1), '8999')
  }
  t.match(await pool.run(taskOf(body(',]}'))), { kind: 'refused', code: 'payload_unparseable' })
  const damaged = body(']}')
  damaged[damaged.length - 6]! ^= 1
  t.match(await pool.run(taskOf(damaged)), { kind: 'refused', code: 'payload_undecodable' })
})

t.test('gives lent memory back, all of it, unless the body goes back with its key', async (t) => {
  const pool = openDecodePool(1)
  t.teardown(() => pool.close())
  const run = async (text: string) => {
    const memory = Buffer.alloc(100, 'x')
    memory.write(text)
    const returned: ArrayBuffer[] = []
    const lent = new Uint8Array(memory.buffer.slice(memory.byteOffset, memory.byteOffset + 100))
    const task = { ...taskOf(memory), body: lent.subarray(0, text.length) }
    const outcome = await pool.run(task, (memory) => returned.push(memory))
    t.equal(lent.buffer.byteLength, 0, 'it was moved')
    return { outcome, returned: returned.map((memory) => Buffer.from(memory).toString()) }
  }
  const known = '{"api_key":"phc_known","event":"e","distinct_id":"u"}'
  const captured = await run(known)
  t.match(captured, { outcome: { kind: 'captured' }, returned: [known.padEnd(100, 'x')] })
  t.match(await run('{'), { outcome: { kind: 'refused' }, returned: ['{'.padEnd(100, 'x')] })
  const other = known.replace('known', 'other')
  const unknown = await run(other)
  t.match(unknown, { outcome: { kind: 'unknown_key' }, returned: [] })
  t.equal(unknown.outcome.kind === 'unknown_key' && Buffer.from(unknown.outcome.body).toString(), other)
})

t.test('gives the body back with a key it does not know', async (t) => {
  const pool = openDecodePool(1)
  t.teardown(() => pool.close())
  const body = Buffer.from('{"api_key":"phc_other","event":"e","distinct_id":"u"}')
  const outcome = await pool.run(taskOf(body))
  t.match(outcome, { kind: 'unknown_key', apiKey: 'phc_other' })
  t.same(outcome.kind === 'unknown_key' && Buffer.from(outcome.body), body)
})

t.test(
  'refuses with capture_overloaded past its byte limit, but never a body that comes alone',
  async (t) => {
    const pool = openDecodePool(1)
    t.teardown(() => pool.close())
    const large = new Uint8Array(100 * 1024 * 1024)
    const alone = pool.run(taskOf(large))
    await t.rejects(pool.run(taskOf(large)), { code: 'capture_overloaded', retryAfterSeconds: 1 })
    t.match(await alone, { kind: 'refused', code: 'payload_unparseable' })
  },
)
