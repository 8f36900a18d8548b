import t from 'tap'
import type { CaptureReport } from '../../src/capture/capture-append.ts'
import type { CaptureTask, DecodedRequest } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { captureHandler, clientIpOf, type IntakeOptions } from '../../src/capture/intake.ts'
import { encodeProjects } from '../../src/capture/projects.ts'
import { TurnCapture } from '../../src/capture/turn-capture.ts'
import { ServiceError } from '../../src/errors.ts'
import type { HttpRequest } from '../../src/http/route.ts'
import type { Appended, JournalPart, Lane, Position } from '../../src/journal/journal.ts'
import { partsOf } from '../journal/memory-journal.ts'
import { requestOf } from '../support/http-request.ts'
import { decodedOf } from './tasks.ts'

const project = { id: 7, apiKey: 'phc_known', anonymizeIps: false, overQuota: false }
function request(body: string, query = ''): HttpRequest {
  const bytes = new Uint8Array(Buffer.from(body))
  return requestOf({ method: 'POST', path: '/batch', query, body: bytes, peerAddress: '192.0.2.1' })
}

/** An intake whose neighbours are recorded. */
function intake(given: Partial<IntakeOptions> = {}) {
  const appended: [lane: Lane, parts: readonly JournalPart[]][] = []
  const reports: CaptureReport[] = []
  const pooled: CaptureTask[] = []
  const options: IntakeOptions = {
    journal: {
      async append(lane, chain): Promise<Appended> {
        appended.push([lane, partsOf(chain)])
        return { position: 0 as Position, end: 1 as Position, duplicateCount: 0 }
      },
    },
    pool: {
      async run(task): Promise<DecodedRequest> {
        pooled.push(task)
        return decodedOf(decodeCapture(task))
      },
      queuedBytes: () => 0,
      close: async () => {},
    },
    projects: { snapshot: () => encodeProjects([project]), lookUp: async () => 'unknown' },
    geoip: null,
    limits: { decompressedBytesMax: 1e6, recordBytesMax: 1e6, eventBytesMax: 1e6 },
    clock: { nowMs: () => 1714564800000, monotonicMs: () => 0 },
    observer: { captured: (report) => reports.push(report) },
    ...given,
  }
  return { handle: captureHandler('/batch', options, new TurnCapture(options)), appended, reports, pooled }
}

const oneEvent = '{"api_key":"phc_known","batch":[{"event":"e","distinct_id":"u"}]}'

t.test('answers 200 after the append, and reports what was captured', async (t) => {
  const { handle, appended, reports } = intake()
  const reply = await handle(request(oneEvent))
  t.equal(reply.status, 200)
  t.equal(reply.body, '{"status":"Ok"}')
  t.equal(appended.length, 1)
  t.equal(appended[0]?.[0], 'realtime')
  t.match(reports, [{ projectId: 7, eventCount: 1, duplicateCount: 0, historical: false, drops: [] }])
})

t.test('does not answer 200 when the journal refuses', async (t) => {
  const append = async (): Promise<Appended> => {
    throw new ServiceError('journal_full')
  }
  const { handle, reports } = intake({ journal: { append } })
  await t.rejects(handle(request(oneEvent)), { code: 'journal_full' })
  t.same(reports, [])
})

t.test('a historical migration goes into its own lane', async (t) => {
  const { handle, appended } = intake()
  await handle(request(oneEvent.replace('{', '{"historical_migration":true,')))
  t.equal(appended[0]?.[0], 'historical')
})

t.test('a request whose events were all dropped is 200 and appends nothing', async (t) => {
  const { handle, appended, reports } = intake()
  const reply = await handle(request('{"api_key":"phc_known","batch":[{"event":"e"}]}'))
  t.equal(reply.status, 200)
  t.same(appended, [])
  t.match(reports, [{ eventCount: 0, drops: [{ reason: 'distinct_id_missing', count: 1 }] }])
})

t.test('beacon=1 is answered 204 without a body', async (t) => {
  const { handle } = intake()
  const reply = await handle(request(oneEvent, 'beacon=1'))
  t.equal(reply.status, 204)
  t.equal(reply.body, '')
})

t.test('a small body is decoded at once, a large one in the pool', async (t) => {
  const { handle, pooled } = intake()
  await handle(request(oneEvent))
  t.equal(pooled.length, 0)
  await handle(request(oneEvent + ' '.repeat(16 * 1024)))
  t.equal(pooled.length, 1)
})

t.test('a small body that inflates far is left to the pool, with the full limit', async (t) => {
  const { gzipSync } = await import('node:zlib')
  const { handle, pooled } = intake()
  const body = new Uint8Array(gzipSync(oneEvent + ' '.repeat(100_000)))
  const reply = await handle({ ...request(''), body })
  t.equal(reply.status, 200)
  t.equal(pooled.length, 1)
  t.equal(pooled[0]?.limits.decompressedBytesMax, 1e6)
})

t.test(
  'a key that is not cached is looked up, and the same body is decoded again when it exists',
  async (t) => {
    let known = [project]
    const { handle, appended } = intake({
      projects: {
        snapshot: () => encodeProjects(known),
        async lookUp(apiKey) {
          t.equal(apiKey, 'phc_new')
          known = [...known, { ...project, id: 8, apiKey }]
          return 'found'
        },
      },
    })
    const reply = await handle(request(oneEvent.replace('phc_known', 'phc_new')))
    t.equal(reply.status, 200)
    t.equal(appended.length, 1)
  },
)

t.test(
  'a key that does not exist is 401; one that cannot be looked up now is 503 with Retry-After',
  async (t) => {
    const body = oneEvent.replace('phc_known', 'phc_other')
    await t.rejects(intake().handle(request(body)), { code: 'api_key_unknown' })
    const projects = { snapshot: () => encodeProjects([]), lookUp: async () => 'unavailable' as const }
    await t.rejects(intake({ projects }).handle(request(body)), {
      code: 'projects_unavailable',
      retryAfterSeconds: 5,
    })
  },
)

t.test('a refused body is an error with its code and wording', async (t) => {
  await t.rejects(intake().handle(request('{')), {
    code: 'payload_unparseable',
    detail: /^failed to parse request/,
  })
})

t.test("the client's address is the first forwarded one without its port, in either spelling", async (t) => {
  const from = (headers: Partial<HttpRequest['headers']>) =>
    clientIpOf(requestOf({ headers, peerAddress: '192.0.2.1' }))
  t.equal(from({}), '192.0.2.1')
  t.equal(from({ 'x-forwarded-for': '203.0.113.5, 10.0.0.1' }), '203.0.113.5')
  t.equal(from({ http_x_forwarded_for: '203.0.113.6' }), '203.0.113.6')
  t.equal(from({ 'x-forwarded-for': '203.0.113.5:4711' }), '203.0.113.5')
  t.equal(from({ 'x-forwarded-for': '[2001:db8::1]:4711' }), '2001:db8::1')
  t.equal(from({ 'x-forwarded-for': '2001:db8::1' }), '2001:db8::1')
  t.equal(from({ 'x-forwarded-for': 'unknown' }), '192.0.2.1')
})

t.test(
  'memory that a body was lent goes back once, however the body ends that has an unknown key',
  async (t) => {
    const lookUps: Record<string, IntakeOptions['projects']['lookUp']> = {
      unknown: async () => 'unknown',
      unavailable: async () => 'unavailable',
      'found, and the pool is full then': async () => 'found',
      'found, and unknown again': async () => 'found',
      failed: async () => {
        throw new Error('lookUp')
      },
    }
    for (const [end, lookUp] of Object.entries(lookUps)) {
      let runCount = 0
      const pool: IntakeOptions['pool'] = {
        async run({ body }) {
          if (++runCount === 2 && end.endsWith('full then')) throw new ServiceError('capture_overloaded')
          const moved = structuredClone(body, { transfer: [body.buffer] })
          return { kind: 'unknown_key', apiKey: 'phc_other', body: moved }
        },
        queuedBytes: () => 0,
        close: async () => {},
      }
      const projects = { snapshot: () => encodeProjects([project]), lookUp }
      const { handle } = intake({ pool, projects })
      const returned: ArrayBuffer[] = []
      const large = {
        ...request('x'.repeat(100_000)),
        giveBack: (memory: ArrayBuffer) => returned.push(memory),
      }
      await t.rejects(async () => handle(large), end)
      t.same(
        returned.map(({ byteLength }) => byteLength),
        [100_000],
        end,
      )
    }
  },
)
