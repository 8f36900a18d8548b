// How a person came to be: gathers what Postgres has of it and what the stored events say, and plays the events again.

import {
  firstEvents,
  type IdHistory,
  idHistories,
  inOrderOfArrival,
  type JoiningEvent,
  joiningEvents,
  type NotedEvent,
  outermostEvents,
  type PropertyChange,
  propertyChanges,
  type RunQuery,
} from '../events/identity-history.ts'
import { type ToldEvent, type ToldStep, tellAccount } from '../identity/account.ts'
import { isIllegalId } from '../identity/illegal-ids.ts'
import type { MergeKind } from '../identity/operations.ts'
import { otherIdOf } from '../identity/other-id.ts'
import type { Session } from '../postgres/pool.ts'

export interface AccountedPerson {
  readonly uuid: string
  readonly created_at: string
  readonly is_identified: boolean
}

/** An event of the account with what it did. */
export interface AccountedEvent extends ToldStep {
  readonly noted: NotedEvent
  readonly otherId: string | null
}

export interface AccountedId {
  readonly distinctId: string
  /** Null when no stored event shows it. */
  readonly joinedWith: AccountedEvent | null
  readonly history: IdHistory | null
}

export interface WarningRow {
  readonly reason: string
  readonly count: number
  readonly last_seen: string
  readonly sample: { readonly event: string; readonly distinct_id: string; readonly detail: string }
}

export interface PersonAccount {
  readonly person: AccountedPerson | null
  readonly ids: readonly AccountedId[]
  readonly merges: readonly AccountedEvent[]
  readonly properties: readonly PropertyChange[]
  readonly warnings: readonly WarningRow[]
  readonly first: NotedEvent | null
  readonly last: NotedEvent | null
  /** What the account cannot know or leaves out, one sentence each. */
  readonly notes: readonly string[]
}

/**
 * A device that a whole school shares may have any number of ids, and be named by any number of events. They are
 * played on the main thread, where each merge moves all ids of a person: 400 merges of the worst kind take 80 ms.
 */
export const accountIdsMax = 200
export const accountMergesMax = 200
const propertiesMax = 100

const kinds: Readonly<Record<string, MergeKind>> = {
  $identify: 'identify',
  $create_alias: 'alias',
  $merge_dangerously: 'merge',
}

/** Gathers the account of the person that `distinctId` belongs to. */
export async function accountOf(
  postgres: Session,
  run: RunQuery,
  projectId: number,
  distinctId: string,
): Promise<PersonAccount> {
  const { person, ids, notes } = await loadPerson(postgres, projectId, distinctId)
  const told = await tell(run, projectId, ids)
  // One after the other: reads share a few places, and nobody waits for this one but who asked.
  const histories = await idHistories(run, projectId, ids)
  const properties = await propertyChanges(run, projectId, ids, propertiesMax)
  const outermost = await outermostEvents(run, projectId, ids)
  const warnings = await loadWarnings(postgres, projectId, ids)
  const joinedWith = new Map<string, AccountedEvent>()
  for (const event of told.events) for (const id of event.joinedIds) joinedWith.set(id, event)
  if (told.isCut)
    notes.push(`More than ${accountMergesMax} events join these ids: the later ones are left out.`)
  if (person === null)
    notes.push('Nobody: no event has made a person of this distinct_id, or it was deleted.')
  else if (ids.some((id) => told.owners.get(id) !== person.uuid)) notes.push(differs)
  return {
    person,
    ids: ids.map((id) => ({
      distinctId: id,
      joinedWith: joinedWith.get(id) ?? null,
      history: histories.get(id) ?? null,
    })),
    merges: told.events.filter(({ noted, otherId }) => otherId !== null && concerns(ids, noted, otherId)),
    properties,
    warnings,
    first: outermost?.first ?? null,
    last: outermost?.last ?? null,
    notes,
  }
}

const differs =
  'The stored events alone would give other persons: some of their events or persons were deleted, or events of ' +
  'historical migrations were applied in another order than they were received.'

async function loadPerson(postgres: Session, projectId: number, distinctId: string) {
  const found = await postgres.query<AccountedPerson>(
    `select uuid, created_at, is_identified from person_distinct_id
     join person on person.project_id = person_distinct_id.project_id and person.uuid = person_uuid
     where person_distinct_id.project_id = $1::integer and distinct_id = $2::text`,
    [projectId, distinctId],
  )
  const person = found.rows[0] ?? null
  const notes: string[] = []
  if (person === null) return { person, ids: [distinctId], notes }
  // The id that was asked for comes first, so that a cut never loses it.
  const { rows } = await postgres.query<{ distinct_id: string }>(
    `select distinct_id from person_distinct_id where project_id = $1::integer and person_uuid = $2::uuid
     order by distinct_id <> $3::text, distinct_id limit $4::bigint`,
    [projectId, person.uuid, distinctId, accountIdsMax + 1],
  )
  if (rows.length > accountIdsMax)
    notes.push(`The person has more than ${accountIdsMax} distinct_ids: the others are left out.`)
  return { person, ids: rows.slice(0, accountIdsMax).map((row) => row.distinct_id), notes }
}

interface Told {
  readonly events: readonly AccountedEvent[]
  readonly owners: ReadonlyMap<string, string>
  readonly isCut: boolean
}

/**
 * Plays the events that name `ids`. Whether a merge was allowed depends on what others had been joined with before, so
 * the events of the others that are named count, too.
 */
async function tell(run: RunQuery, projectId: number, ids: readonly string[]): Promise<Told> {
  const direct = await joiningEvents(run, projectId, ids, accountMergesMax + 1)
  const named = direct.flatMap((event) => [event.distinctId, otherIdIn(event) ?? event.distinctId])
  const others = [...new Set(named)].filter((id) => !ids.includes(id) && !isIllegalId(id))
  const indirect =
    others.length === 0 ? [] : await joiningEvents(run, projectId, others, accountMergesMax + 1)
  const births = await firstEvents(run, projectId, [...ids, ...others])
  const joining = new Map([...direct, ...indirect].map((event) => [event.place.join(), event]))
  const events: (NotedEvent | JoiningEvent)[] = [
    ...joining.values(),
    ...births.filter((event) => !joining.has(event.place.join())),
  ].sort(inOrderOfArrival)
  const { steps, owners } = tellAccount(projectId, events.map(toldEvent))
  return {
    events: steps.map((step, index) => {
      const noted = events[index]!
      return { ...step, noted, otherId: otherIdIn(noted) }
    }),
    owners,
    isCut: direct.length > accountMergesMax || indirect.length > accountMergesMax,
  }
}

function toldEvent(event: NotedEvent | JoiningEvent): ToldEvent {
  const otherId = otherIdIn(event)
  const kind = otherId === null ? 'birth' : (kinds[event.event] ?? 'birth')
  return { kind, distinctId: event.distinctId, otherId }
}

/** The id that an event asks to be joined with its own. */
function otherIdIn(event: NotedEvent | JoiningEvent): string | null {
  const kind = Object.hasOwn(kinds, event.event) ? kinds[event.event] : undefined
  if (kind === undefined || !('otherIdText' in event) || event.otherIdText === null) return null
  return otherIdOf(kind, new Map([[kind === 'identify' ? '$anon_distinct_id' : 'alias', event.otherIdText]]))
}

function concerns(ids: readonly string[], noted: NotedEvent, otherId: string): boolean {
  return ids.includes(noted.distinctId) || ids.includes(otherId)
}

/** Warnings are counted by project and reason; those are shown whose last example is one of the ids. */
async function loadWarnings(
  postgres: Session,
  projectId: number,
  ids: readonly string[],
): Promise<readonly WarningRow[]> {
  const { rows } = await postgres.query<WarningRow>(
    `select reason, count, last_seen, sample from ingestion_warning
     where project_id = $1::integer and sample->>'distinct_id' = any($2::text[]) order by reason`,
    [projectId, ids],
  )
  return rows
}
