// How a command asks the running server: its management API over HTTP, with the key that the first start left in
// DATA_DIR, or one that is given. DuckDB and the embedded Postgres belong to the server alone while it runs.

import type { Config } from '../config.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import { readBootstrap } from '../management/bootstrap.ts'

/** Where to ask, as given on the command line; what is undefined is found. */
export interface ServerAddress {
  readonly url?: string | undefined
  /** Personal API key. */
  readonly key?: string | undefined
}

export interface ServerClient {
  /**
   * GET of a path below `/api/`; returns the JSON of the answer.
   * Errors: server_unavailable, server_refused with the server's own words.
   */
  get(path: string): Promise<unknown>
  /** POST of `body` as JSON; otherwise as `get`. */
  post(path: string, body: unknown): Promise<unknown>
  /** POST that is answered with a file. */
  postForFile(path: string, body: unknown): Promise<Uint8Array>
  /**
   * The id of the project that `given` names by id or project API key. When nothing is given: the only one, or the
   * one of the first start when the key may not list them.
   * Errors: server_refused when there is none, or more than one to choose from.
   */
  findProject(given: string | undefined): Promise<number>
}

/** The server stops a query of its own after 30 s. */
const answerMsMax = 60_000

/** Errors: config_invalid when no key is given or found. */
export function openServerClient(config: Config, address: ServerAddress): ServerClient {
  const known = readBootstrap(config.dataDir)
  const key = address.key ?? known?.personal_api_key
  if (key === undefined) {
    const detail = `no personal API key: pass --key, or run this where ${config.dataDir} holds bootstrap.json`
    throw new ServiceError('config_invalid', { detail })
  }
  const base = (address.url ?? ownUrl(config)).replace(/\/+$/, '')

  const ask = async (path: string, init: RequestInit): Promise<Buffer> => {
    let reply: Response
    let answer: Buffer
    try {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      reply = await fetch(`${base}${path}`, { ...init, headers, signal: AbortSignal.timeout(answerMsMax) })
      answer = Buffer.from(await reply.arrayBuffer())
    } catch (cause) {
      const detail = `no answer from ${base}: is the server running there? --url names another`
      throw new ServiceError('server_unavailable', { detail, cause })
    }
    if (reply.status === 200) return answer
    throw new ServiceError('server_refused', { detail: `${reply.status} ${detailIn(answer.toString())}` })
  }
  const get = async (path: string): Promise<unknown> => JSON.parse((await ask(path, {})).toString())
  const postForFile = (path: string, body: unknown): Promise<Buffer> =>
    ask(path, { method: 'POST', body: JSON.stringify(body) })
  const post = async (path: string, body: unknown): Promise<unknown> =>
    JSON.parse((await postForFile(path, body)).toString())
  const findProject = async (given: string | undefined): Promise<number> => {
    if (given !== undefined && /^\d{1,10}$/.test(given)) return Number(given)
    if (given !== undefined && given === known?.project_api_key) return known.project_id
    let teams: ListedProject[]
    try {
      // The projects of the key's organization, each with its id, name and project API key.
      teams = ((await get('/api/organizations/@current/')) as { teams: ListedProject[] }).teams
    } catch (error) {
      // A key may be for persons alone: then the first project is as good a guess as there is.
      if (given !== undefined || known === null || !isServiceError(error, 'server_refused')) throw error
      return known.project_id
    }
    const found = given === undefined ? teams : teams.filter((project) => project.api_token === given)
    const [only, ...others] = found
    if (only !== undefined && others.length === 0) return only.id
    const names = teams.map(({ id, name }) => `${id} (${name})`).join(', ')
    const detail = `name a project by its id or its project API key with --project: ${names}`
    throw new ServiceError('server_refused', { detail })
  }
  return { get, post, postForFile, findProject }
}

interface ListedProject {
  readonly id: number
  readonly name: string
  readonly api_token: string
}

function ownUrl({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

function detailIn(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    return typeof detail === 'string' ? detail : text.slice(0, 300)
  } catch {
    return text.slice(0, 300) // not an answer of the API: whatever listens there is shown
  }
}
