// Steps through operations, with a look at the audit log behind each.

import type { Test } from 'tap'
import { type Answer, ids, type World } from '../api/world.ts'

export interface Step {
  /** Method and template. */
  readonly does: string
  /** Name of the id that stands in the path beside its tenant's. */
  readonly id?: string
  /** Name of a second one. */
  readonly inner?: string
  readonly body?: object
  /** In its place, where it holds what was made. */
  readonly bodyOf?: (made: ReadonlyMap<string, string>) => object
  /** Fields of the answer that later steps ask for, by name. */
  readonly keeps?: Readonly<Record<string, string>>
  /** Number of the project; the first when left out. */
  readonly in?: number
  /** User; null for somebody who becomes one by it. */
  readonly by?: null
  /** Done before. */
  readonly first?: (audited: Audited) => Promise<void>
  /** Entries that are written; 1 when left out. */
  readonly entries?: number
}

export interface Audited {
  readonly world: World
  /** Ids and texts by name. */
  readonly made: Map<string, string>
}

interface Entry {
  readonly organization_id: string
  readonly user_id: number | null
  readonly address: string | null
  readonly project_id: number | null
}

const owner = 3

/** Takes `steps` in turn as the owner, and returns the operations that were walked. */
export async function walk(t: Test, { world, made }: Audited, steps: readonly Step[]): Promise<Set<string>> {
  const walked = new Set<string>()
  for (const step of steps) {
    world.clock.ms += 1_000
    await step.first?.({ world, made })
    const seen = await entries(world)
    const answer = await take(world, made, step)
    const { does, keeps = {} } = step
    if (answer.status >= 300) t.fail(`${does}: ${answer.status} ${answer.text}`)
    else walked.add(does)
    const shown = answer.text === '' ? {} : JSON.parse(answer.text)
    for (const [name, field] of Object.entries(keeps)) made.set(name, String(shown[field]))
    const written = (await entries(world)).slice(seen.length)
    const expected = step.entries ?? 1
    if (written.length !== expected) t.fail(`${does} wrote ${written.length} entries, not ${expected}`)
    for (const entry of written) check(t, step, entry, made)
  }
  return walked
}

function check(t: Test, { does, by }: Step, entry: Entry, made: ReadonlyMap<string, string>): void {
  const isProjects = does.includes('/projects/:')
  const isHere = entry.organization_id === ids.ours || entry.organization_id === made.get('second')
  const isOwners = by === null ? entry.user_id !== null : entry.user_id === owner
  if (isHere && isOwners && entry.address === '127.0.0.1' && (!isProjects || entry.project_id !== null))
    return
  t.fail(`${does} wrote ${JSON.stringify(entry)}`)
}

async function take(world: World, made: ReadonlyMap<string, string>, step: Step): Promise<Answer> {
  const { does, id = '', inner = '', body = {}, bodyOf, in: project = 1, by } = step
  const [method = '', template = ''] = does.split(' ')
  const path = template
    .replace(/:organization_id/, ids.ours)
    .replace(/^\/api\/organizations\/:id$/, `/api/organizations/${ids.ours}`)
    .replace(/:project_id/, String(project))
    .replace(/:(?:id|uuid|user__uuid)\b/, made.get(id) ?? '')
    .replace(/:(?:backfill_id|run_id)\b/, made.get(inner) ?? '')
  const sent = bodyOf?.(made) ?? body
  const key = by === null ? 'none' : 'phx_owner'
  return method === 'DELETE' ? world.get(path, key, method) : world.send(method, path, sent, key)
}

async function entries({ postgres }: World): Promise<Entry[]> {
  const { rows } = await postgres.query<Entry>(
    'select organization_id, user_id, address, project_id from organization_activity order by created_at, id',
  )
  return rows
}
