// What the management API answers, whole: status and body.

import type { Answer, World } from '../api/world.ts'

/** Status, and the body as JSON; no body is ''. */
export type Whole = readonly [status: number, body: unknown]

export const notFound = error(404, 'invalid_request', 'not_found', 'Not found.')
export const forbidden = denied('You do not have permission to perform this action.')
export const insufficient = denied('Your organization access level is insufficient.')

export function denied(detail: string): Whole {
  return error(403, 'authentication_error', 'permission_denied', detail)
}

export function invalid(code: string, detail: string, attr: string | null): Whole {
  return error(400, 'validation_error', code, detail, attr)
}

export function error(
  status: number,
  type: string,
  code: string,
  detail: string,
  attr: string | null = null,
): Whole {
  return [status, { type, code, detail, attr }]
}

/** Asks `world` and returns whole answers. The key of `send` is the owner's and that of `get` the member's. */
export function askerOf(world: World) {
  const get = async (path: string, key?: string, method?: string): Promise<Whole> =>
    whole(await world.get(path, key, method))
  const send = async (method: string, path: string, body: unknown, key?: string): Promise<Whole> =>
    whole(await world.send(method, path, body, key))
  const remove = (path: string, key = 'phx_owner'): Promise<Whole> => get(path, key, 'DELETE')
  return { get, send, remove }
}

function whole({ status, text }: Answer): Whole {
  return [status, text === '' ? '' : JSON.parse(text)]
}

/** A user of the world as other resources show one. */
export function userOf(id: number, name: string, uuid: string): object {
  return {
    id,
    uuid,
    distinct_id: name,
    first_name: '',
    last_name: '',
    email: `${name}@spate.example`,
    is_email_verified: null,
    hedgehog_config: null,
    role_at_organization: null,
  }
}
