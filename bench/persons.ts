// How many events a second do the persons keep up with?
//
// The persons' own store (PostgresStore over the fold) applies batches that capture made to a Postgres of its own with
// fsync on, in steps as the consumer takes them under load. Known persons visit page after page; a share of the events
// tells who is who, or all events are of new persons. The kinds of steps take turns, and medians are shown.
//
// Both work in turn, never at once, so the sum of their processor times is what an event takes; on a machine that has
// nothing else to do, the wall clock says the same.

import { join } from 'node:path'
import type { EventBatch } from '../src/capture/event-batch.ts'
import { forLanes, type Offsets } from '../src/consumer/offset.ts'
import { bornIdOf } from '../src/identity/born-id.ts'
import type { UnreadInput } from '../src/identity/operations.ts'
import { nothingSeen } from '../src/identity/seen.ts'
import { printSeen } from '../src/persons/packed-seen.ts'
import { PostgresStore, storePool } from '../src/persons/postgres-store.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../src/postgres/pool.ts'
import { capturedBatch, rangeOf, type SentEvent } from '../test/identity/captured.ts'
import { addProjects } from '../test/persons/world.ts'
import { machineMs } from './clock.ts'
import { visit } from './identity.ts'
import { OwnPostgres } from './own-postgres.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, integerOption, type Outcome, quantile, type Scenario } from './scenario.ts'

const batchEvents = 1000
const MiB = 1024 * 1024
const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} }

export const persons: Scenario = {
  question: 'how many events a second do the persons keep up with?',
  options: {
    persons: { fallback: '100000', meaning: 'known before the measured events' },
    samples: { fallback: '7', meaning: 'steps of each kind' },
    'step-events': { fallback: '10000', meaning: 'events of a step' },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async (context) => {
    const own = await OwnPostgres.start(join(context.folder, 'postgres'))
    const postgres = openPostgres({ connectionString: own.databaseUrl, log: silent })
    const store = new PostgresStore({
      postgres: openPostgres({ connectionString: own.databaseUrl, log: silent, ...storePool }),
      // As in the persons thread.
      cacheBytesMax: 192 * MiB,
      loadedBytesMax: 64 * MiB,
      killAt: null,
    })
    try {
      return await measure(context, own, postgres, store)
    } finally {
      await store.close()
      await postgres.close()
      await own.kill()
    }
  },
}

/** Makes an event of a known person. */
type Kind = (random: Random, person: number) => SentEvent

function mixed(identityShare: number): Kind {
  return (random, person) =>
    random.next() < identityShare ? telling(random, person) : visit(person, random.text(8))
}

/** Half identify with a device's id that is new, the rest change a property, or a group's. */
function telling(random: Random, person: number): SentEvent {
  const kind = random.below(4)
  if (kind === 0) return { ...visit(person, '', { $set: { seats: random.below(1000) } }), event: '$set' }
  if (kind === 1) {
    const group = { $group_type: 'company', $group_key: `company ${person % 1000}` }
    return {
      ...visit(person, '', { ...group, $group_set: { seats: random.below(1000) } }),
      event: '$groupidentify',
    }
  }
  return { ...visit(person, '', { $anon_distinct_id: random.text(20) }), event: '$identify' }
}

const kinds: Readonly<Record<string, Kind>> = {
  'no identity events': mixed(0),
  '10 % identity events': mixed(0.1),
  '50 % identity events': mixed(0.5),
  'each event changes its person': (random, person) =>
    visit(person, random.text(8), { utm_campaign: random.text(8) }),
  'new persons': (random) => visit(1e9 + random.below(1e9), random.text(8)),
}

const kindCount = Object.keys(kinds).length

interface Sample {
  readonly wallMicros: number
  readonly threadMicros: number
  readonly postgresMicros: number
}

async function measure(
  { options, say }: Context,
  server: OwnPostgres,
  postgres: Postgres,
  store: PostgresStore,
): Promise<Outcome> {
  const personCount = integerOption(options, 'persons')
  const stepEvents = integerOption(options, 'step-events')
  const random = createRandom(integerOption(options, 'seed'))
  await migrate({ postgres, log: silent })
  await addProjects(postgres)
  await addPersons(postgres, personCount)
  say(`${personCount} persons are there`)
  let { offsets } = await store.take(crypto.randomUUID())
  let applied = 0
  const samples = new Map(Object.keys(kinds).map((name) => [name, [] as Sample[]]))
  const sampleCount = integerOption(options, 'samples')
  for (let round = -1; round < sampleCount; round++) {
    for (const [place, [name, kind]] of Object.entries(kinds).entries()) {
      // People of its own: what an event costs depends on what was last said of its person.
      const own = Math.ceil(personCount / kindCount)
      const inputs = inputsOf(stepEvents, () => kind(random, place * own + random.below(own)))
      const to = behind(offsets)
      const [wallMs, cpu, postgresMs] = [machineMs(), process.cpuUsage(), server.cpuMs()]
      await store.apply({
        from: offsets,
        to,
        marks: forLanes(() => null),
        inputs,
        gaps: [],
        setAside: [],
        spikes: [],
        nowMs: Date.now(),
      })
      const { user, system } = process.cpuUsage(cpu)
      const wallMicros = ((machineMs() - wallMs) * 1000) / stepEvents
      const postgresMicros = ((server.cpuMs() - postgresMs) * 1000) / stepEvents
      offsets = to
      applied += stepEvents
      // The first round warms up.
      if (round >= 0)
        samples.get(name)?.push({ wallMicros, threadMicros: (user + system) / stepEvents, postgresMicros })
    }
  }
  const { rows } = await postgres.query<{ billable: number }>(
    'select sum(billable)::bigint as billable from usage_daily',
  )
  const counted = rows[0]?.billable ?? 0
  return {
    rows: [...samples].map(([name, list]) => ({ name, value: describe(list) })),
    broken: counted === applied ? [] : [`${counted} of ${applied} events were counted`],
    slow: [],
  }
}

function describe(samples: readonly Sample[]): string {
  const median = (of: keyof Sample): number =>
    quantile(
      samples.map((sample) => sample[of]),
      0.5,
    )
  const [thread, server, wall] = [median('threadMicros'), median('postgresMicros'), median('wallMicros')]
  const rate = Math.round(1e6 / (thread + server))
  const costs = `${thread.toFixed(1)} µs + ${server.toFixed(1)} µs of Postgres an event`
  return `${costs}: ${rate} events/s (wall clock ${wall.toFixed(1)} µs)`
}

function inputsOf(count: number, make: () => SentEvent): UnreadInput[] {
  return Array.from({ length: Math.ceil(count / batchEvents) }, (_, index) => {
    const size = Math.min(batchEvents, count - index * batchEvents)
    return rangeOf(captured(Array.from({ length: size }, make)))
  })
}

function captured(events: readonly SentEvent[]): EventBatch {
  const batch = capturedBatch(events)
  if (batch === null) throw new Error('capture dropped every event')
  return batch
}

/** Places that no journal has: only that they move on counts here. */
function behind({ realtime, historical }: Offsets): Offsets {
  return { realtime: { ...realtime, index: realtime.index + 1 }, historical }
}

/** Writes persons as their first visit would have left them. */
async function addPersons(postgres: Postgres, count: number): Promise<void> {
  const rowsMax = 20_000
  for (let start = 0; start < count; start += rowsMax) {
    const numbers = Array.from({ length: Math.min(rowsMax, count - start) }, (_, index) => start + index)
    const ids = numbers.map((person) => String(visit(person, '').distinct_id))
    const uuids = ids.map((id) => bornIdOf(1, id))
    const properties = numbers.map((person) => JSON.stringify(firstProperties(person)))
    await postgres.query(
      `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes, seen)
       select 1, uuid, now(), false, 0, properties::jsonb, octet_length(properties), seen
       from unnest($1::uuid[], $2::text[], $3::uuid[]) as made (uuid, properties, seen)`,
      [uuids, properties, seenBy(numbers)],
    )
    await postgres.query(
      `insert into person_distinct_id (project_id, distinct_id, person_uuid)
       select 1, * from unnest($1::text[], $2::uuid[])`,
      [ids, uuids],
    )
  }
  await postgres.query('vacuum analyze person, person_distinct_id')
}

/** What each has seen by then. */
function seenBy(persons: readonly number[]): (string | null)[] {
  const { digests } = captured(persons.map((person) => visit(person, '')))
  return Array.from(digests, (last) => printSeen({ ...nothingSeen, last }))
}

function firstProperties(person: number): object {
  const { properties } = visit(person, '')
  const entries = Object.entries(properties as object) // `visit` makes an object of them
  const initial = entries.map(([key, value]) => [`$initial_${key.replace('$', '')}`, value])
  return Object.fromEntries([...entries, ...initial])
}
