// The endpoints that answer which flags are on: /decide, as it is documented, and /flags, which newer SDKs ask. Both
// are public, read nothing but the project API key and the body, and tell nothing but flags and settings.

import { clientIpOf, type ProjectSource } from '../capture/intake.ts'
import type { CaptureProject } from '../capture/projects.ts'
import { isServiceError, ServiceError } from '../errors.ts'
import { errorReply } from '../http/reply.ts'
import type { HttpReply, HttpRequest, Route } from '../http/route.ts'
import { type Answer, type AnswerShape, answerText } from './answer-text.ts'
import { type EvaluatorOptions, evaluateFlags } from './evaluator.ts'
import { projectOfKey } from './find-project.ts'
import { flagBodyBytesMax, readFlagBody } from './flag-body.ts'
import { type FlagRequest, parseFlagRequest } from './flag-request.ts'
import type { JsonObject } from './json-value.ts'
import { defaultSettings, type ProjectSettings } from './project-settings.ts'
import { newRequestId } from './request-id.ts'

export interface FlagRoutesOptions extends EvaluatorOptions {
  readonly projects: ProjectSource
  readonly settings: ProjectSettings
  /** Properties that an address stands for; null for none. */
  readonly locate: (address: string) => JsonObject | null
}

/** What the SDKs of apps call themselves. */
const appAgent = /^posthog-(?:ios|android|react-native|flutter)\//

/** How the endpoint asked wants to be answered. */
interface Dialect {
  readonly shape: AnswerShape
  readonly hasSettings: boolean
  readonly surveysOnly: boolean
  /** Bytes that are no UTF-8 are an error to /decide only. */
  readonly isLossy: boolean
}

export function flagRoutes(options: FlagRoutesOptions): Route[] {
  const common = {
    cors: 'public',
    bodyBytesMax: flagBodyBytesMax,
    bodyTooLarge: 'request_too_large',
  } as const
  return [
    {
      ...common,
      methods: ['POST'],
      path: '/decide',
      errorStyle: 'json',
      preflight: '{"status": 1}',
      handle: (request) => answer(request, decideDialect(request.query), options),
    },
    {
      ...common,
      methods: ['POST'],
      path: '/flags',
      errorStyle: 'text',
      handle: (request) => answerFlags(request, options),
    },
    { ...common, methods: ['GET'], path: '/flags', errorStyle: 'text', handle: () => minimalReply(options) },
  ]
}

/** No version is the first, and what is no number the second, as they have always been. */
function decideDialect(query: string): Dialect {
  const version = versionIn(new URLSearchParams(query)) ?? 1
  const shape = version >= 4 ? 'details' : version >= 3 ? 'values' : version >= 2 ? 'values_on' : 'keys'
  return { shape, hasSettings: true, surveysOnly: false, isLossy: false }
}

function flagsDialect(query: string): Dialect {
  const params = new URLSearchParams(query)
  const version = versionIn(params)
  const config = params.get('config')
  const isBare = version === null && config === null
  return {
    shape: isBare || (version !== null && version >= 2) ? 'details' : 'values',
    hasSettings: isBare || isYes(config),
    surveysOnly: isYes(params.get('only_evaluate_survey_feature_flags')),
    isLossy: true,
  }
}

function versionIn(params: URLSearchParams): number | null {
  const text = params.get('v')
  if (text === null || text === '') return null
  return /^-?\d{1,9}$/.test(text) ? Number(text) : 2
}

function isYes(text: string | null): boolean {
  return text !== null && /^(?:true|1)$/i.test(text)
}

/** What a request to /flags is refused for is text, except for who asks. */
async function answerFlags(request: HttpRequest, options: FlagRoutesOptions): Promise<HttpReply> {
  try {
    const contentType = request.headers['content-type'].split(';', 1)[0]!.trim().toLowerCase()
    if (!/^(?:|application\/json|text\/plain|application\/x-www-form-urlencoded)$/.test(contentType)) {
      throw new ServiceError('malformed_data', { detail: 'unsupported content type' })
    }
    return await answer(request, flagsDialect(request.query), options)
  } catch (error) {
    if (!isServiceError(error)) throw error
    switch (error.code) {
      case 'no_api_key':
        return errorReply('json', new ServiceError('not_authenticated', { detail: error.detail }))
      case 'invalid_api_key':
      case 'invalid_personal_key':
        return errorReply('json', new ServiceError('authentication_failed', { detail: error.detail }))
      case 'malformed_data':
      case 'missing_distinct_id': {
        const detail = `Failed to decode request: ${error.detail}`
        return errorReply('text', new ServiceError(error.code, { detail }))
      }
      default:
        throw error
    }
  }
}

/** Errors: malformed_data, missing_distinct_id, and those of `projectOf`. */
async function answer(
  request: HttpRequest,
  dialect: Dialect,
  options: FlagRoutesOptions,
): Promise<HttpReply> {
  const asked = parseFlagRequest(await readFlagBody(request, dialect.isLossy))
  const project = await projectOf(asked, options.projects)
  const settings = dialect.hasSettings ? (await options.settings.of(project.id)).decide : ''
  const nowMs = options.clock.nowMs()
  const empty: Answer = {
    outcomes: [],
    hasErrors: false,
    isOverQuota: project.overQuota,
    requestId: newRequestId(nowMs),
    evaluatedAtMs: nowMs,
    settings,
  }
  if (project.overQuota || asked.areFlagsDisabled) return replyOf(empty, dialect)
  if (asked.distinctId === null) throw new ServiceError('missing_distinct_id')
  const question = {
    projectId: project.id,
    distinctId: asked.distinctId,
    request: asked,
    selection: {
      flagKeys: asked.flagKeys,
      contexts: asked.contexts,
      runtime: asked.runtime ?? (isClient(request) ? 'client' : null),
      surveysOnly: dialect.surveysOnly,
    },
    derived: asked.isGeoipDisabled ? null : options.locate(clientIpOf(request)),
  }
  return replyOf({ ...empty, ...(await evaluateFlags(question, options)) }, dialect)
}

/** A page or an app that asks is a client, whether it says so or not. */
function isClient({ headers }: HttpRequest): boolean {
  return headers.origin !== '' || appAgent.test(headers['user-agent'])
}

/** Errors: no_api_key, invalid_api_key, invalid_personal_key, projects_unavailable. */
async function projectOf(asked: FlagRequest, projects: ProjectSource): Promise<CaptureProject> {
  if (asked.apiKey === null || asked.apiKey.trim() === '') throw new ServiceError('no_api_key')
  const project = await projectOfKey(asked.apiKey, projects)
  if (project !== null) return project
  throw new ServiceError(asked.hasProjectId ? 'invalid_personal_key' : 'invalid_api_key')
}

function replyOf(given: Answer, { shape }: Dialect): HttpReply {
  return jsonText(answerText(given, shape))
}

/** Whoever only looks is told that it works. */
function minimalReply({ clock }: FlagRoutesOptions): HttpReply {
  const nowMs = clock.nowMs()
  const answer: Answer = {
    outcomes: [],
    hasErrors: false,
    isOverQuota: false,
    requestId: newRequestId(nowMs),
    evaluatedAtMs: nowMs,
    settings: defaultSettings.decide,
  }
  return jsonText(answerText(answer, 'details'))
}

function jsonText(body: string): HttpReply {
  return { status: 200, contentType: 'application/json', body, headers: [] }
}
