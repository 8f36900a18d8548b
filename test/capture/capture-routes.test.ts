import t from 'tap'
import { captureRoutes } from '../../src/capture/capture-routes.ts'
import type { IntakeOptions } from '../../src/capture/intake.ts'
import { encodeProjects } from '../../src/capture/projects.ts'
import { MemoryJournal, partsOf } from '../journal/memory-journal.ts'
import { requestOf } from '../support/http-request.ts'

t.test('the documented endpoints take POST only, their aliases GET as well', async (t) => {
  // No request is made: the options are only passed on.
  const routes = captureRoutes({ limits: {} } as IntakeOptions, 1024)
  const methods = Object.fromEntries(routes.map((route) => [route.path, route.methods.join(' ')]))
  t.same(methods, {
    '/batch': 'POST',
    '/capture': 'POST',
    '/e': 'GET POST',
    '/i/v0/e': 'GET POST',
    '/track': 'GET POST',
    '/engage': 'GET POST',
  })
  t.ok(
    routes.every(
      (route) => route.cors === 'public' && route.errorStyle === 'text' && route.bodyBytesMax === 1024,
    ),
  )
})

t.test('requests of one turn are one record, whichever paths they came by', async (t) => {
  const counts: number[] = []
  const journal = new MemoryJournal()
  const project = { id: 1, apiKey: 'phc_test', anonymizeIps: false, overQuota: false }
  const routes = captureRoutes(
    {
      journal: {
        append(lane, chain) {
          const parts = partsOf(chain)
          counts.push(...parts.map(({ eventCount }) => eventCount))
          return journal.append(lane, parts)
        },
      },
      pool: {
        run: () => Promise.reject(new Error('small bodies need no pool')),
        queuedBytes: () => 0,
        close: async () => {},
      },
      projects: { snapshot: () => encodeProjects([project]), lookUp: async () => 'unknown' },
      limits: { decompressedBytesMax: 1e6, recordBytesMax: 1e6, eventBytesMax: 1e6 },
      geoip: null,
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      observer: { captured: () => {} },
    },
    1024,
  )
  const body = new Uint8Array(Buffer.from('{"api_key":"phc_test","event":"e","distinct_id":"u"}'))
  const replies = await Promise.all(routes.map(({ handle }) => handle(requestOf({ body }))))
  t.same([replies.map(({ status }) => status), counts], [[200, 200, 200, 200, 200, 200], [6]])
})
