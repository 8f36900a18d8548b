// What does it cost to know who is who, and is it right?
//
// The fold runs alone, over persons held in memory, on batches that capture made: for each kind of event the time it
// takes to read its operations, list what must be loaded, and fold. Then random histories are played through the fold
// and through the plain model of test/identity, which must agree; the smallest history that does not is printed.

import fc from 'fast-check'
import type { EventBatch } from '../src/capture/event-batch.ts'
import { fold } from '../src/identity/fold.ts'
import { idsToLoad } from '../src/identity/ids-to-load.ts'
import type { Known, KnownProject, Person } from '../src/identity/known.ts'
import { capturedBatch, inputOf, type SentEvent } from '../test/identity/captured.ts'
import { checkHistory } from '../test/identity/check-history.ts'
import { history } from '../test/identity/histories.ts'
import { machineMs } from './clock.ts'
import { createRandom, type Random } from './random.ts'
import { integerOption, type Outcome, quantile, type ResultRow, type Scenario } from './scenario.ts'

const eventsPerBatch = 5000
const samples = 7

export const identity: Scenario = {
  question: 'what does it cost to know who is who, and is it right?',
  options: {
    persons: { fallback: '100000', meaning: 'known before the measured events' },
    histories: { fallback: '10000', meaning: 'random ones to compare with the plain model' },
    seed: { fallback: '1', meaning: 'of events and histories' },
  },
  run: async ({ options, say }) => {
    const seed = integerOption(options, 'seed')
    const rows = measure(integerOption(options, 'persons'), seed)
    say('the costs are measured')
    const numRuns = integerOption(options, 'histories')
    const { failed, counterexample } = fc.check(fc.property(history(40), checkHistory), { numRuns, seed })
    const broken = failed ? [`fold and plain model disagree on ${fc.stringify(counterexample)}`] : []
    return {
      rows: [...rows, { name: 'histories', value: String(numRuns) }],
      broken,
      slow: [],
    } satisfies Outcome
  },
}

/** What a visitor sends: only the page differs from event to event. */
export function visit(person: number, page: string, more: object = {}): SentEvent {
  const properties = {
    $os: 'Mac OS X',
    $browser: 'Chrome',
    $browser_version: 120,
    $device_type: 'Desktop',
    $current_url: `https://example.com/${page}`,
    $pathname: `/${page}`,
    $raw_user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/120.0.0.0',
    $screen_width: 1920,
    $screen_height: 1080,
    $viewport_width: 1903,
    $viewport_height: 969,
    $referrer: 'https://www.google.com/',
    $referring_domain: 'www.google.com',
    utm_source: 'newsletter',
    utm_campaign: `campaign-${person % 50}`,
    ...more,
  }
  return { event: '$pageview', distinct_id: `018f3c2a-77aa-7c11-9d2e-${person}`, properties }
}

/** The measured kinds of events, of person `person`. */
const kinds: Readonly<Record<string, (person: number, random: Random) => SentEvent>> = {
  'anonymous event': (person, random) => visit(person, random.text(8), { $process_person_profile: false }),
  'plain event': (person) => ({ event: 'e', distinct_id: `018f3c2a-77aa-7c11-9d2e-${person}` }),
  'another page': (person, random) => visit(person, random.text(8)),
  'another campaign': (person, random) => visit(person, random.text(8), { utm_campaign: random.text(8) }),
  'new person': (_, random) => visit(1e9 + random.below(1e9), random.text(8)),
  'identify, merging a new id': (person, random) => ({
    ...visit(person, '', { $anon_distinct_id: random.text(20), $set: { email: `${person}@example.com` } }),
    event: '$identify',
  }),
}

function measure(personCount: number, seed: number): ResultRow[] {
  const persons = new Map<string, Person>()
  const known = knownPersons(persons)
  for (let start = 0; start < personCount; start += eventsPerBatch) {
    const count = Math.min(eventsPerBatch, personCount - start)
    // Twice: the second time each person learns what changes nothing.
    const batch = batchOf(count, (index) => visit(start + index, ''))
    for (let time = 0; time < 2; time++) foldBatch(known, batch, persons)
  }
  const random = createRandom(seed)
  return Object.entries(kinds).map(([name, make]) => {
    const micros = Array.from({ length: samples }, () => {
      const batch = batchOf(eventsPerBatch, () => make(random.below(personCount), random))
      const start = machineMs()
      foldBatch(known, batch, null)
      return ((machineMs() - start) * 1000) / eventsPerBatch
    })
    const [best, median] = [0, 0.5].map((share) => quantile(micros, share).toFixed(2))
    return { name, value: `${median} µs an event (best ${best})` }
  })
}

/** The batch that capture makes of events 0 to count - 1; it must keep some. */
export function batchOf(count: number, make: (index: number) => SentEvent): EventBatch {
  const batch = capturedBatch(Array.from({ length: count }, (_, index) => make(index)))
  if (batch === null) throw new Error('capture dropped every event')
  return batch
}

/** Folds a batch; the persons it changes are kept in `persons`, unless that is null. */
export function foldBatch(known: Known, batch: EventBatch, persons: Map<string, Person> | null): void {
  const inputs = [inputOf(batch)]
  idsToLoad(inputs)
  const changes = fold(known, inputs)
  if (persons === null) return
  const byUuid = new Map(changes.persons.map((person) => [person.uuid, person]))
  for (const { distinctId, personUuid } of changes.distinctIds) {
    const person = byUuid.get(personUuid ?? '')
    if (person) persons.set(distinctId, person)
  }
}

/** Persons by distinct_id as what the fold knows. */
export function knownPersons(persons: ReadonlyMap<string, Person>): Known {
  const project: KnownProject = {
    hasEvents: true,
    groupTypes: new Map(),
    person: (distinctId) => persons.get(distinctId) ?? null,
    personByUuid: () => null,
    distinctIdsOf: () => [],
    group: () => null,
  }
  return { project: () => project }
}
