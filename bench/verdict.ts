// What the oracle says in the end, and which promises that breaks.

import type { PersonsVerdict } from './persons-verifier.ts'
import type { ResultRow } from './scenario.ts'

export interface Verdict extends EventsVerdict {
  /** Null when persons were not judged. */
  readonly persons: PersonsVerdict | null
}

export interface EventsVerdict {
  readonly requestCount: number
  readonly eventCount: number
  readonly acknowledgedEvents: number
  /** Requests that got no answer in any attempt, and how many of them were stored nevertheless. */
  readonly unansweredRequests: number
  readonly unansweredStored: number
  readonly quarantinedEvents: number
  /** From here on broken promises, in events unless said. Acknowledged, and not stored. */
  readonly lost: number
  readonly doubled: number
  /** Stored with other contents than were sent. */
  readonly altered: number
  /** Events of refused requests, and rows that nobody sent. */
  readonly uninvited: number
  /** Unanswered requests of which a part is stored. */
  readonly torn: number
  /** Rows behind which they should stand. */
  readonly misordered: number
  /** The first few, in words. */
  readonly samples: readonly string[]
}

/** The verdict as rows of a result. */
export function describeVerdict(verdict: Verdict): ResultRow[] {
  const { requestCount, eventCount, acknowledgedEvents, unansweredRequests, unansweredStored } = verdict
  const names = ['lost', 'doubled', 'altered', 'uninvited', 'torn', 'misordered'] as const
  return [
    { name: 'sent', value: `${requestCount} requests, ${eventCount} events` },
    {
      name: 'acknowledged',
      value: `${acknowledgedEvents} events, ${verdict.quarantinedEvents} of them in quarantine`,
    },
    { name: 'unanswered', value: `${unansweredRequests} requests, ${unansweredStored} of them stored` },
    ...names.map((name) => ({ name, value: String(verdict[name]) })),
    ...(verdict.persons === null ? [] : describePersons(verdict.persons)),
  ]
}

function describePersons(verdict: PersonsVerdict): ResultRow[] {
  const { personCount, movedIds, groupCount, missing, uninvited, wrong } = verdict
  return [
    { name: 'persons', value: `${personCount}, ${movedIds} ids moved, ${groupCount} groups` },
    { name: 'facts of persons', value: `${missing} missing, ${uninvited} uninvited, ${wrong} wrong` },
  ]
}

/** The broken promises of a verdict, one line each; empty when all were kept. */
export function brokenPromises(verdict: Verdict): string[] {
  const rows = [
    [verdict.lost, 'acknowledged events were lost'],
    [verdict.doubled, 'events were stored more than once'],
    [verdict.altered, 'events were stored with other contents than were sent'],
    [verdict.uninvited, 'events were stored that were refused or never sent'],
    [verdict.torn, 'unanswered requests were stored in part'],
    [verdict.misordered, 'events stand out of order'],
  ] as const
  const broken = rows.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return [...broken, ...(broken.length === 0 ? [] : verdict.samples), ...brokenPersons(verdict.persons)]
}

function brokenPersons(verdict: PersonsVerdict | null): string[] {
  if (verdict === null) return []
  const rows = [
    [verdict.missing, 'facts of persons and groups are missing'],
    [verdict.uninvited, 'facts of persons and groups follow from no event'],
    [verdict.wrong, 'facts of persons and groups are not what the events say'],
  ] as const
  const broken = rows.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return broken.length === 0 ? [] : [...broken, ...verdict.samples]
}
