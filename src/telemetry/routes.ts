// The endpoints that operators and their tools ask: is it alive, can it accept, how is it doing.

import { timingSafeEqual } from 'node:crypto'
import { ServiceError } from '../errors.ts'
import { type HttpReply, type HttpRequest, jsonReply, type Route, textReply } from '../http/route.ts'
import { type HealthReason, readinessOf } from './health.ts'
import type { Metrics } from './metrics.ts'

export interface OperatorRoutesOptions {
  readonly problems: () => readonly HealthReason[]
  readonly metrics: Metrics
  /** When set, /metrics wants it as bearer token. */
  readonly metricsToken: string | null
}

/** Liveness, readiness and metrics, with the names that other deployments of the API use. */
export function operatorRoutes({ problems, metrics, metricsToken }: OperatorRoutesOptions): Route[] {
  const live = (): HttpReply => textReply(200, 'ok')
  const ready = (): HttpReply => {
    const readiness = readinessOf(problems())
    return jsonReply(readiness.status === 'unavailable' ? 503 : 200, readiness)
  }
  const showMetrics = async (request: HttpRequest): Promise<HttpReply> => {
    if (metricsToken !== null && !isBearer(request.headers.authorization, metricsToken)) {
      throw new ServiceError('not_authenticated')
    }
    return { status: 200, contentType: metrics.contentType, body: await metrics.text(), headers: [] }
  }
  return [
    get('/_livez', live),
    get('/_liveness', live),
    get('/_readyz', ready),
    get('/_readiness', ready),
    get('/_health', ready),
    get('/metrics', showMetrics),
  ]
}

function get(path: string, handle: Route['handle']): Route {
  return {
    methods: ['GET'],
    path,
    cors: 'none',
    errorStyle: 'json',
    bodyBytesMax: 0,
    bodyTooLarge: 'body_too_large',
    handle,
  }
}

function isBearer(header: string, token: string): boolean {
  const sent = Buffer.from(header)
  const expected = Buffer.from(`Bearer ${token}`)
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}
