// An S3 server on loopback for tests and the bench. s3rver stores objects; before it stands a server that checks
// signatures, keeps what was asked, can answer in its place, and ends uploads, which s3rver does not know how to.

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import S3rver from 's3rver'
import type { Test } from 'tap'
import { isSigned } from './s3-signature.ts'

/** The keys that s3rver knows. */
export const s3Keys = { aws_access_key_id: 'S3RVER', aws_secret_access_key: 'S3RVER' }
export const s3Bucket = 'bucket-of-tests'

export interface S3Request {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export interface S3Server {
  readonly port: number
  readonly endpoint: string
  /** Requests so far, in the order of their arrival. */
  readonly requests: S3Request[]
  /** Answers in the place of the server: true when it did. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Keys in the bucket, sorted. */
  keys(): Promise<string[]>
  /** An object's bytes. */
  object(key: string): Promise<Buffer>
}

/** One that has to be closed, which removes what it stores. */
export interface OwnS3Server extends S3Server {
  close(): Promise<void>
}

/** Starts the server with one empty bucket; it ends with the test. */
export async function startS3(t: Test): Promise<S3Server> {
  const server = await openS3()
  t.teardown(() => server.close())
  return server
}

/** Starts the server with one empty bucket. */
export async function openS3(): Promise<OwnS3Server> {
  const directory = mkdtempSync(join(tmpdir(), 'spate-s3-'))
  const configureBuckets = [{ name: s3Bucket, configs: [] }]
  const store = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets })
  const { port: storePort } = await store.run()
  const requests: S3Request[] = []
  const front = http.createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method, url, headers })
    if (server.intercept(request, response)) return
    if (method === 'DELETE' && url.includes('uploadId=')) {
      response.writeHead(204).end()
      return
    }
    forward(request, response, storePort).catch(() => response.destroy())
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const { port } = front.address() as AddressInfo // it listens on TCP
  const read = async (path: string): Promise<Buffer> => {
    const response = await fetch(`http://127.0.0.1:${storePort}/${s3Bucket}${path}`)
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  }
  const server: OwnS3Server = {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    intercept: () => false,
    async keys() {
      const list = (await read('?list-type=2')).toString()
      return [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => match[1]!).sort()
    },
    object: (key) => read(`/${key.split('/').map(encodeURIComponent).join('/')}`),
    async close() {
      front.closeAllConnections()
      front.close()
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return server
}

/** Hands a signed request on to s3rver. */
async function forward(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const body = await buffer(request)
  const { method, url, headers } = request
  // An unknown access key is for s3rver to refuse.
  const isKnown = headers.authorization?.includes(`Credential=${s3Keys.aws_access_key_id}/`) === true
  if (isKnown && !isSigned(request, body, s3Keys.aws_secret_access_key)) {
    s3Refusal(response, 403, 'SignatureDoesNotMatch')
    return
  }
  const onward = http.request({ port, host: '127.0.0.1', method, path: url, headers, agent: false })
  onward.end(body)
  // The first event of a response is its answer.
  const [answer] = (await once(onward, 'response')) as [IncomingMessage]
  answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))
}

/** An answer as S3 gives it when it refuses. */
export function s3Refusal(response: ServerResponse, status: number, code: string, message = ''): true {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' }).end(body)
  return true
}
