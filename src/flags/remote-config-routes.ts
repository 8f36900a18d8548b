// What browsers fetch besides flags, with the project API key in the address: the settings that posthog-js starts
// with, early access features, and lists of things that this server does not have.

import type { ProjectSource } from '../capture/intake.ts'
import type { CaptureProject } from '../capture/projects.ts'
import { ServiceError } from '../errors.ts'
import { emptyReply, type HttpReply, type HttpRequest, type Route } from '../http/route.ts'
import type { EarlyAccessFeatureDefinition, FlagDefinitions } from './definition.ts'
import { projectOfKey } from './find-project.ts'
import type { ProjectSettings } from './project-settings.ts'

export interface RemoteConfigOptions {
  readonly projects: ProjectSource
  readonly settings: ProjectSettings
  readonly definitions: FlagDefinitions
}

/** Nothing is read from the body of a GET. */
const bodyBytesMax = 1024

/** Stages that are nobody's business yet, or no more. */
const hiddenStages: ReadonlySet<string> = new Set(['draft', 'archived'])

/** Lists that are always empty here, by path. */
const emptyLists = {
  '/api/surveys': { surveys: [], survey_config: null },
  '/api/web_experiments': { experiments: [] },
  '/api/product_tours': { product_tours: [] },
} as const

export function remoteConfigRoutes(options: RemoteConfigOptions): Route[] {
  const get = (path: string, handle: Route['handle']): Route => ({
    methods: ['GET'],
    path,
    cors: 'public',
    errorStyle: 'json',
    bodyBytesMax,
    bodyTooLarge: 'request_too_large',
    handle,
  })
  return [
    get('/array/:token/config', (request) => config(request, options, (text) => [text, 'application/json'])),
    get('/array/:token/config.js', (request) => config(request, options, script)),
    get('/api/early_access_features', (request) => earlyAccessFeatures(request, options)),
    ...Object.entries(emptyLists).map(([path, list]) =>
      get(path, async (request) => {
        await projectInQuery(request, options)
        return textReply(JSON.stringify(list), 'application/json')
      }),
    ),
  ]
}

type Written = readonly [body: string, contentType: string]

/** An unknown key is a plain 404: posthog-js then goes on without settings. */
async function config(
  { params }: HttpRequest,
  options: RemoteConfigOptions,
  write: (text: string, token: string) => Written,
): Promise<HttpReply> {
  const token = params.token ?? ''
  const project = await projectOfKey(token, options.projects)
  if (project === null) return emptyReply(404)
  const { remoteConfig } = await options.settings.of(project.id)
  const definitions = options.definitions.of(project.id)
  // While they are not known there may be some; false would keep a page from asking.
  const hasFlags = definitions === null || definitions.flags.some((flag) => flag.active)
  const text = `{"token":${JSON.stringify(project.apiKey)},"hasFeatureFlags":${hasFlags},${remoteConfig}}`
  return textReply(...write(text, project.apiKey))
}

function script(text: string, token: string): Written {
  const name = 'window._POSTHOG_REMOTE_CONFIG'
  const value = `{config:${text},siteApps:[]}`
  return [
    `(function(){${name}=${name}||{};${name}[${JSON.stringify(token)}]=${value}})();`,
    'text/javascript; charset=utf-8',
  ]
}

async function earlyAccessFeatures(request: HttpRequest, options: RemoteConfigOptions): Promise<HttpReply> {
  const project = await projectInQuery(request, options)
  const stages = new URLSearchParams(request.query).getAll('stage')
  const wanted = new Set(stages.length === 0 ? ['beta'] : stages)
  const features = options.definitions.of(project.id)?.earlyAccessFeatures ?? []
  const shown = features
    .filter(({ stage }) => wanted.has(stage) && !hiddenStages.has(stage))
    .map(featureShown)
  return textReply(JSON.stringify({ earlyAccessFeatures: shown }), 'application/json')
}

function featureShown(feature: EarlyAccessFeatureDefinition): object {
  const { id, name, description, stage, documentationUrl, flagKey } = feature
  return { id, name, description, stage, documentationUrl, flagKey }
}

/** Errors: no_api_key, invalid_api_key, projects_unavailable. */
async function projectInQuery(
  request: HttpRequest,
  { projects }: RemoteConfigOptions,
): Promise<CaptureProject> {
  const params = new URLSearchParams(request.query)
  const token = params.get('token') ?? params.get('api_key') ?? ''
  if (token.trim() === '') throw new ServiceError('no_api_key')
  const project = await projectOfKey(token, projects)
  if (project === null) throw new ServiceError('invalid_api_key')
  return project
}

function textReply(body: string, contentType: string): HttpReply {
  return { status: 200, contentType, body, headers: [['x-content-type-options', 'nosniff']] }
}
