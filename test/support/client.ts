// How a test talks to a server: plain HTTP to the public endpoints, and the events list to see what was stored.

import { until } from './until.ts'

export const testProjectApiKey = 'phc_test_project'
export const testPersonalApiKey = 'phx_test_personal'

/** The first start on an empty database makes this project. */
const testProjectId = 1

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** An event as the events list shows it. */
export interface StoredEvent {
  readonly id: string
  readonly distinct_id: string
  readonly event: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly timestamp: string
  readonly elements_chain: string
}

export interface EventFilter {
  readonly distinct_id?: string
  readonly event?: string
}

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly projectId: number
  readonly projectApiKey: string
  readonly personalApiKey: string
  /** Sends a body: text and bytes as they are, anything else as JSON. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>
  /** GET with the personal API key. */
  get(path: string): Promise<Reply>
  /** Waits until everything that was acknowledged is in both stores, and reads of events see whose they are. */
  settled(): Promise<void>
  /** Waits like `settled`, then returns the matching events, oldest first, at most 1000; equal times as they came. */
  storedEvents(filter: EventFilter): Promise<StoredEvent[]>
}

/** Connects to a server that was started with the keys above. `isSettled` tells what `settled` waits for. */
export function connectTo(port: number, isSettled: (() => boolean) | null = null): TestServer {
  const url = `http://127.0.0.1:${port}`

  const post: TestServer['post'] = (path, body, headers = {}) =>
    send(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: bytesOf(body),
    })

  const get: TestServer['get'] = (path) =>
    send(`${url}${path}`, { headers: { authorization: `Bearer ${testPersonalApiKey}` } })

  async function list(filter: EventFilter): Promise<StoredEvent[]> {
    const query = new URLSearchParams({ ...filter, limit: '1000' })
    const reply = await get(`/api/projects/${testProjectId}/events/?${query}`)
    if (reply.status !== 200) throw new Error(`the events list answered ${reply.status}: ${reply.text}`)
    // The shape of the events list; every test that reads a field checks it.
    return (JSON.parse(reply.text) as { results: StoredEvent[] }).results
  }

  // An answer follows the commit to the journal, so what is acknowledged and not yet readable shows as lag; and what a
  // step changed of persons is known to wait for the mirror as soon as the step is known to be done.
  async function hasNoLag(): Promise<boolean> {
    const { text } = await get('/metrics')
    const lags = text.match(/^spate_((events|persons)_lag_bytes{.*}|mirror_waiting_changes) \d+$/gm) ?? []
    return lags.length === 5 && lags.every((lag) => lag.endsWith(' 0'))
  }
  const settled = (): Promise<void> => until(isSettled ?? hasNoLag)

  return {
    url,
    port,
    projectId: testProjectId,
    projectApiKey: testProjectApiKey,
    personalApiKey: testPersonalApiKey,
    post,
    get,
    settled,
    async storedEvents(filter) {
      await settled()
      return (await list(filter)).reverse()
    },
  }
}

function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
}

async function send(url: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
