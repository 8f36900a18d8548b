// Signature Version 4 of S3 as a server checks it, after AWS's description of the canonical request. s3rver asks for
// one and believes whatever it gets.

import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** True when the request and its body were signed with `secretKey`. */
export function isSigned(request: IncomingMessage, body: Buffer, secretKey: string): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^/]+\/s3\/aws4_request), SignedHeaders=([^,]+), Signature=(\w{64})$/
  const [, , scope = '', signedHeaders = '', signature] =
    pattern.exec(request.headers.authorization ?? '') ?? []
  const bodyHash = String(request.headers['x-amz-content-sha256'])
  if (bodyHash !== sha256(body)) return false
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const canonical = [
    request.method,
    path,
    query
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .sort()
      .join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signedHeaders,
    bodyHash,
  ].join('\n')
  const text = [
    'AWS4-HMAC-SHA256',
    request.headers['x-amz-date'],
    scope,
    sha256(Buffer.from(canonical)),
  ].join('\n')
  const key = scope.split('/').reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secretKey}`))
  return hmac(key, text).toString('hex') === signature
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
