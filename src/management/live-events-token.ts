// The token with which a page may follow a project's live events: a JSON Web Token (RFC 7519, HS256), as upstream makes
// it.

import { createHmac } from 'node:crypto'

const algorithm = { alg: 'HS256', typ: 'JWT' }
const audience = 'posthog:livestream'
const lifeSeconds = 7 * 24 * 3600

export interface LiveEventsProject {
  readonly id: number
  readonly api_token: string
}

/** Makes tokens with a key of their own, derived from `secret`. */
export function liveEventsSigner(secret: Uint8Array): (project: LiveEventsProject, nowMs: number) => string {
  const key = createHmac('sha256', secret).update('live events token').digest()
  return ({ id, api_token }, nowMs) => {
    const claims = { team_id: id, api_token, exp: Math.floor(nowMs / 1000) + lifeSeconds, aud: audience }
    const signed = `${encode(algorithm)}.${encode(claims)}`
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
