// Whose flags they are: the project of a project API key as it was sent.

import { checkApiKey } from '../capture/api-key.ts'
import type { ProjectSource } from '../capture/intake.ts'
import { type CaptureProject, findProject } from '../capture/projects.ts'
import { ServiceError } from '../errors.ts'

/** Returns null when no project has the key. Errors: projects_unavailable while nobody can say. */
export async function projectOfKey(sent: string, projects: ProjectSource): Promise<CaptureProject | null> {
  const key = checkApiKey(sent)
  if (key.kind === 'refused') return null
  const known = findProject(projects.snapshot(), key.apiKey)
  if (known !== null) return known
  const answer = await projects.lookUp(key.apiKey)
  if (answer === 'unavailable') throw new ServiceError('projects_unavailable', { retryAfterSeconds: 5 })
  return answer === 'found' ? findProject(projects.snapshot(), key.apiKey) : null
}
