// GET /api/projects/:project_id/feature_flags/:id/remote_config/: the payload of a remote configuration flag, which is
// named by its id or its key.

import { type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import { ServiceError } from '../errors.ts'
import type { FlagDefinitions } from '../flags/definition.ts'
import { memberOf, objectIn } from '../flags/json-value.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { openPayload } from './feature-flag-payloads.ts'

export function remoteConfig(definitions: FlagDefinitions, sealer: Sealer): Operation {
  return projectOperation({
    method: 'GET',
    path: '/api/projects/:project_id/feature_flags/:id/remote_config',
    operationId: 'feature_flags_remote_config',
    summary: 'Payload of a remote configuration flag, named by its id or key',
    tag: 'feature_flags',
    query: Type.Object({
      token: Type.Optional(Type.String({ description: 'Project API key of the project meant by @current.' })),
    }),
    body: null,
    status: 200,
    response: Type.Unknown({ description: 'In practice JSON as a string; null without a payload.' }),
    handle: async ({ project, sql, params: { id = '' } }) => {
      const defined = definitions.of(project.id)
      if (defined === null) throw new ServiceError('projects_unavailable')
      const isId = /^\d+$/.test(id)
      const flag = defined.flags.find((one) => (isId ? one.id === Number(id) : one.key === id))
      if (!flag?.isRemoteConfiguration) throw new ServiceError('not_found')
      if (flag.hasEncryptedPayloads)
        return await openPayload(sql, sealer, { projectId: project.id, flagId: flag.id, key: 'true' })
      return memberOf(objectIn(flag.filters.payloads), 'true') ?? null
    },
  })
}
