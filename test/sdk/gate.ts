// A gate between an SDK and the server: it passes everything on, remembers what was asked and answered, and can be
// told to refuse, or to lose an answer.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { listenFor } from '../support/listen.ts'

/** An event as an SDK sent it. */
export interface SentEvent {
  readonly uuid: string
  readonly event: string
  readonly distinct_id?: string
  readonly properties: Readonly<Record<string, unknown>>
}

export interface Passage {
  readonly method: string
  /** Path without query. */
  readonly path: string
  readonly query: string
  /** What the SDK was answered. */
  readonly status: number
  /** Of a capture request; else empty. */
  readonly events: readonly SentEvent[]
}

/** `refuse`: the server never sees the request. `lose`: it does, but the SDK is told otherwise. */
export type Fault = 'refuse' | 'lose'

export interface Gate {
  readonly url: string
  readonly passages: readonly Passage[]
  /** Passages that carried events. */
  captures(): Passage[]
  /** Answers the next capture request 503 with Retry-After. */
  failNext(fault: Fault): void
}

const capturePath = /^\/(batch|e|capture|i\/v0\/e|track|engage)\/?$/
/** What belongs to one connection, or is set anew. */
const ownHeaders = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'expect']

/** Opens a gate in front of the server at `target`; it closes with the test. */
export async function openGate(t: Test, target: string): Promise<Gate> {
  const passages: Passage[] = []
  let fault: Fault | null = null
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path, search: query } = new URL(request.url ?? '/', target)
    const body = Buffer.concat(await request.toArray())
    const isCapture = request.method === 'POST' && capturePath.test(path)
    const failing = isCapture ? fault : null
    if (failing !== null) fault = null
    let reply: Response | null = null
    if (failing !== 'refuse') reply = await passOn(`${target}${path}${query}`, request, body)
    const status = failing === null ? (reply?.status ?? 0) : 503
    const events = isCapture ? eventsIn(body, path) : []
    passages.push({ method: request.method ?? '', path, query, status, events })
    if (failing !== null || reply === null) {
      response.writeHead(503, { 'retry-after': '1', 'access-control-allow-origin': '*' }).end('not now')
      return
    }
    const headers = [...reply.headers].filter(([name]) => !ownHeaders.includes(name))
    response.writeHead(status, headers.flat()).end(Buffer.from(await reply.arrayBuffer()))
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => response.destroy(error))
  })
  const port = await listenFor(t, server)
  return {
    url: `http://127.0.0.1:${port}`,
    passages,
    captures: () => passages.filter((passage) => passage.events.length > 0),
    failNext: (next) => {
      fault = next
    },
  }
}

function passOn(url: string, request: IncomingMessage, body: Buffer): Promise<Response> {
  const headers = Object.entries(request.headers).filter(([name]) => !ownHeaders.includes(name))
  return fetch(url, {
    method: request.method ?? 'GET',
    headers: headers.map(([name, value]) => [name, String(value)]),
    ...(body.length > 0 ? { body } : {}),
  })
}

/** Reads a capture body the way its sender meant it: an envelope, an array or one event. */
function eventsIn(body: Buffer, path: string): SentEvent[] {
  const text = textIn(body)
  try {
    // What SDKs send; the tests check the fields they read.
    const sent = JSON.parse(text) as SentEvent[] | SentEvent | { batch: SentEvent[] }
    if (Array.isArray(sent)) return sent
    return 'batch' in sent ? sent.batch : [sent]
  } catch (cause) {
    throw new Error(`the gate cannot read what came to ${path}: ${text.slice(0, 100)}`, { cause })
  }
}

function textIn(body: Buffer): string {
  if (body[0] === 0x1f && body[1] === 0x8b) return gunzipSync(body).toString()
  const text = body.toString()
  if (!text.startsWith('data=')) return text
  return Buffer.from(new URLSearchParams(text).get('data') ?? '', 'base64').toString()
}
