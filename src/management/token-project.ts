// Which project a project API key opens, for routes that are told by `?token=`.

import type { ProjectSource } from '../capture/intake.ts'
import { ServiceError } from '../errors.ts'
import { projectOfKey } from '../flags/find-project.ts'

/** Errors: authentication_failed for a key that is no project's, projects_unavailable. */
export async function projectOfToken(projects: ProjectSource, token: string): Promise<number> {
  const project = await projectOfKey(token, projects)
  if (project !== null) return project.id
  throw new ServiceError('authentication_failed', { detail: 'Project API key invalid.' })
}
