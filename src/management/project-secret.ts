// PATCH /api/projects/:project_id/rotate_secret_token/ and …/delete_secret_token_backup/: the project secret API key,
// for servers that evaluate flags by themselves. A new key leaves the one before it good until that is deleted, so that
// servers can be given the new one in their own time. It is shown this once.

import { hashKey, makeKey, maskKey } from '../api/keys.ts'
import { type Operation, projectOperation } from '../api/operation.ts'
import type { Principal } from '../api/principal.ts'
import { Type } from '../api/schema.ts'
import type { Project } from '../api/tenant.ts'
import type { Clock } from '../lib/clock.ts'
import type { Session } from '../postgres/pool.ts'
import { recordActivity } from './activity.ts'

const nullableText = (description: string) => Type.Union([Type.String({ description }), Type.Null()])

const response = Type.Object({
  id: Type.Integer({ description: 'Of the project.' }),
  secret_api_token: nullableText('The key when it has just been made, else its beginning and end.'),
  secret_api_token_backup: nullableText('Beginning and end of the key before it, while that is good.'),
})

const common = { method: 'PATCH', tag: 'projects', query: null, body: null, status: 200, response } as const

export function projectSecretOperations(clock: Clock): Operation[] {
  const rotation = projectOperation({
    ...common,
    path: '/api/projects/:project_id/rotate_secret_token',
    operationId: 'projects_rotate_secret_token',
    summary: 'Make a new project secret API key; the one before stays good as backup',
    handle: ({ sql, project, principal, address }) =>
      sql.transaction(async (session) => {
        const nowMs = clock.nowMs()
        const key = makeKey('phs_')
        await lockProject(session, project.id)
        await deleteBackup(session, project.id)
        await session.query('update project_secret_key set is_backup = true where project_id = $1', [
          project.id,
        ])
        await session.query(
          `insert into project_secret_key (project_id, is_backup, secure_value, mask_value, created_at)
           values ($1, false, $2, $3, to_timestamp($4))`,
          [project.id, hashKey(key), maskKey(key), nowMs / 1000],
        )
        await note(session, { project, principal, address }, 'secret_api_token', nowMs)
        return { ...(await findMasks(session, project.id)), secret_api_token: key }
      }),
  })
  const deletion = projectOperation({
    ...common,
    path: '/api/projects/:project_id/delete_secret_token_backup',
    operationId: 'projects_delete_secret_token_backup',
    summary: 'End the project secret API key before the present one',
    handle: ({ sql, project, principal, address }) =>
      sql.transaction(async (session) => {
        if (await deleteBackup(session, project.id))
          await note(session, { project, principal, address }, 'secret_api_token_backup', clock.nowMs())
        return await findMasks(session, project.id)
      }),
  })
  return [rotation, deletion]
}

/** Of two that rotate at once one waits for the other. */
async function lockProject(session: Session, projectId: number): Promise<void> {
  await session.query('select from project where id = $1 for no key update', [projectId])
}

/** True when there was one. */
async function deleteBackup(session: Session, projectId: number): Promise<boolean> {
  const { rowCount } = await session.query(
    'delete from project_secret_key where project_id = $1 and is_backup',
    [projectId],
  )
  return rowCount > 0
}

async function findMasks(session: Session, projectId: number): Promise<object> {
  const { rows } = await session.query<{ mask_value: string; is_backup: boolean }>(
    'select mask_value, is_backup from project_secret_key where project_id = $1',
    [projectId],
  )
  return {
    id: projectId,
    secret_api_token: rows.find((row) => !row.is_backup)?.mask_value ?? null,
    secret_api_token_backup: rows.find((row) => row.is_backup)?.mask_value ?? null,
  }
}

async function note(
  session: Session,
  { project, principal, address }: { project: Project; principal: Principal; address: string },
  field: string,
  nowMs: number,
): Promise<void> {
  const entry = {
    organizationId: project.organization.id,
    projectId: project.id,
    activity: 'updated',
    scope: 'Project',
    itemId: project.id,
    changes: [{ field, before: '********', after: '********' }],
  }
  await recordActivity(session, { principal, address }, entry, nowMs)
}
