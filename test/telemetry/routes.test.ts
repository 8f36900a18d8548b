import t from 'tap'
import type { HttpRequest, Route } from '../../src/http/route.ts'
import type { HealthReason } from '../../src/telemetry/health.ts'
import { operatorRoutes } from '../../src/telemetry/routes.ts'

const metrics = {
  captured() {},
  replied() {},
  late() {},
  text: async () => 'a 1\n',
  contentType: 'text/plain',
}

function ask(routes: readonly Route[], path: string, authorization = '') {
  const route = routes.find((one) => one.path === path)
  // The handlers read nothing of a request but this header.
  return route?.handle({ headers: { authorization } } as HttpRequest)
}

t.test('readiness is 503 only when capture cannot accept', async (t) => {
  const problems: HealthReason[] = []
  const routes = operatorRoutes({ problems: () => problems, metrics, metricsToken: null })
  for (const path of ['/_readyz', '/_readiness', '/_health']) {
    t.match(await ask(routes, path), { status: 200, body: '{"status":"ok","reasons":[]}' })
  }
  problems.push({ component: 'postgres', reason: 'away', stopsCapture: false })
  t.match(await ask(routes, '/_readyz'), { status: 200, body: /"degraded".*"away"/ })
  problems.push({ component: 'journal realtime', reason: 'full', stopsCapture: true })
  t.match(await ask(routes, '/_readyz'), { status: 503, body: /"unavailable".*"full".*"away"/ })
})

t.test('liveness does not depend on anything', async (t) => {
  const routes = operatorRoutes({
    problems: () => [{ component: 'journal', reason: 'full', stopsCapture: true }],
    metrics,
    metricsToken: null,
  })
  for (const path of ['/_livez', '/_liveness']) t.match(await ask(routes, path), { status: 200, body: 'ok' })
})

t.test('metrics are open unless a token is set, then they want it', async (t) => {
  const open = operatorRoutes({ problems: () => [], metrics, metricsToken: null })
  t.match(await ask(open, '/metrics'), { status: 200, body: 'a 1\n' })
  const closed = operatorRoutes({ problems: () => [], metrics, metricsToken: 'sesame' })
  await t.rejects(async () => ask(closed, '/metrics'), { code: 'not_authenticated' })
  await t.rejects(async () => ask(closed, '/metrics', 'Bearer wrong!'), { code: 'not_authenticated' })
  t.match(await ask(closed, '/metrics', 'Bearer sesame'), { status: 200, body: 'a 1\n' })
})
