// GET /flags/definitions, and /api/feature_flag/local_evaluation/ for older SDKs: what a server needs to evaluate flags
// by itself. Answered from memory; what a caller has already is not sent again.

import { JsonText, type Operation, projectOperation } from '../api/operation.ts'
import { Type } from '../api/schema.ts'
import type { ProjectSource } from '../capture/intake.ts'
import { findProject } from '../capture/projects.ts'
import { ServiceError } from '../errors.ts'
import type { FlagDefinitions } from '../flags/definition.ts'
import { localEvaluation } from '../flags/local-evaluation.ts'

const anyObject = Type.Object({}, { additionalProperties: true })

const query = Type.Object({
  token: Type.Optional(
    Type.String({ description: "Project API key; the caller's current project without it." }),
  ),
  send_cohorts: Type.Optional(Type.Unknown({ description: 'Present: cohorts are sent, too.' })),
})

export function localEvaluationOperations(
  definitions: FlagDefinitions,
  projects: ProjectSource,
): Operation[] {
  const paths = {
    '/flags/definitions': 'flags_definitions',
    '/api/feature_flag/local_evaluation': 'local_evaluation',
  }
  return Object.entries(paths).map(([path, operationId]) =>
    projectOperation({
      method: 'GET',
      path,
      operationId,
      summary: 'Definitions of all flags, for SDKs that evaluate by themselves',
      tag: 'feature_flags',
      query,
      body: null,
      status: 200,
      response: Type.Object({
        flags: Type.Array(anyObject),
        group_type_mapping: anyObject,
        cohorts: anyObject,
      }),
      handle: async ({ project, sql, query }) => {
        const { rows } = await sql.query<{ api_token: string }>(
          'select api_token from project where id = $1',
          [project.id],
        )
        const known = findProject(projects.snapshot(), rows[0]?.api_token ?? '')
        if (known?.overQuota) throw new ServiceError('payment_required')
        const defined = definitions.of(project.id)
        if (defined === null) throw new ServiceError('projects_unavailable')
        const { text, etag } = localEvaluation(project.id, defined, query.send_cohorts !== undefined)
        return new JsonText(text, etag)
      },
    }),
  )
}
