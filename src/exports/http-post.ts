// One POST to an address that somebody gave us, tried again while the other side says "not now".

import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { Outbound } from '../outbound/outbound.ts'

export interface Answer {
  readonly status: number
  /** What Retry-After asks for, ms; null when it asks for nothing that can be read. */
  readonly retryAfterMs: number | null
}

export interface PostLimits {
  /** Neither side has said anything. */
  readonly silentMsMax: number
  /** A request as a whole. */
  readonly requestMsMax: number
  readonly attemptsMax: number
  /** The first pause between attempts; each is twice the one before. */
  readonly pauseMs: number
  /** Who asks for a longer pause is left to the run, which tries again later. */
  readonly pauseMsMax: number
}

export const postLimits: PostLimits = {
  silentMsMax: 30_000,
  requestMsMax: 120_000,
  attemptsMax: 4,
  pauseMs: 1_000,
  pauseMsMax: 60_000,
}

/** True for answers that the same request may not get again. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/**
 * Sends gzipped JSON and resolves with the last answer. Redirects are answers like any other; bodies are not read.
 * Errors: the socket's after the last attempt; the reason of `signal`.
 */
export async function postJson(
  url: URL,
  body: Buffer,
  outbound: Pick<Outbound, 'httpAgent' | 'httpsAgent'>,
  signal: AbortSignal,
  limits: PostLimits,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const isFinal = attempt === limits.attemptsMax
    let askedMs: number | null = null
    try {
      const answer = await postOnce(url, body, outbound, signal, limits)
      askedMs = answer.retryAfterMs
      if (isFinal || !isPassing(answer.status) || (askedMs ?? 0) > limits.pauseMsMax) return answer
    } catch (error) {
      if (isFinal || signal.aborted || !isSocketError(error)) throw error
    }
    await delay(askedMs ?? Math.min(limits.pauseMs * 2 ** (attempt - 1), limits.pauseMsMax), null, { signal })
  }
}

function postOnce(
  url: URL,
  body: Buffer,
  outbound: Pick<Outbound, 'httpAgent' | 'httpsAgent'>,
  signal: AbortSignal,
  limits: PostLimits,
): Promise<Answer> {
  const isTls = url.protocol === 'https:'
  const headers = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'content-length': body.length,
  }
  return new Promise((resolve, reject) => {
    const request = (isTls ? https : http).request(url, {
      method: 'POST',
      headers: { ...headers, 'user-agent': 'spate' },
      agent: isTls ? outbound.httpsAgent : outbound.httpAgent,
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.requestMsMax)]),
    })
    request.setTimeout(limits.silentMsMax, () => request.destroy(timedOut()))
    request.on('error', (error) =>
      reject(error.name === 'AbortError' ? (signal.aborted ? error : timedOut()) : error),
    )
    request.on('response', (response) => {
      resolve({
        status: response.statusCode ?? 0,
        retryAfterMs: readRetryAfter(response.headers['retry-after']),
      })
      // Short bodies are read away, so that the connection can be used again; the rest goes with it.
      const left = Number(response.headers['content-length'] ?? Number.POSITIVE_INFINITY)
      if (left <= drainedBytesMax) response.resume()
      else response.destroy()
      response.on('error', () => {}) // the status was the answer
    })
    request.end(body)
  })
}

const drainedBytesMax = 64 * 1024

/** Seconds only: a date is for caches. */
function readRetryAfter(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,6}$/.test(text.trim()) ? Number(text) * 1000 : null
}

/** Network errors have a code of the system; the guard's have one of ours, and pass later or never. */
function isSocketError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
}

function timedOut(): Error {
  return Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })
}
