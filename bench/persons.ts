// How many events a second do the persons keep up with?
//
// The persons' own store (PostgresStore over the fold) applies batches that capture made to a Postgres of its own with
// fsync on, in steps as the consumer takes them under load. Known persons visit page after page; a share of the events
// tells who is who, or all events are of new persons. The kinds of steps take turns, and medians are shown.
//
// A store that has just started remembers nobody: each person is looked up with its first event, and with a million of
// them that is nearly every event of a step. One that has met its persons before remembers some 730,000 to 1,460,000 of
// them. Both are measured.
//
// Both work in turn, never at once, so the sum of their processor times is what an event takes; on a machine that has
// nothing else to do, the wall clock says the same.

import { join } from 'node:path'
import { forLanes, type Offsets, originOffset } from '../src/consumer/offset.ts'
import { isServiceError } from '../src/errors.ts'
import type { UnreadInput } from '../src/identity/operations.ts'
import { PostgresStore, storePool } from '../src/persons/postgres-store.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { openPostgres, type Postgres } from '../src/postgres/pool.ts'
import { rangeOf, type SentEvent } from '../test/identity/captured.ts'
import { addProjects } from '../test/persons/world.ts'
import { machineMs } from './clock.ts'
import { batchOf, visit } from './identity.ts'
import { addPersons } from './known-persons.ts'
import { OwnPostgres } from './own-postgres.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, integerOption, type Outcome, quantile, type Scenario } from './scenario.ts'
import { waitFor } from './wait.ts'

const batchEvents = 1000
const MiB = 1024 * 1024
/** Of a million persons, on a machine that has others to serve. */
const vacuumMsMax = 600_000
const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} }

export const persons: Scenario = {
  question: 'how many events a second do the persons keep up with?',
  options: {
    persons: { fallback: '100000', meaning: 'known before the measured events' },
    samples: { fallback: '7', meaning: 'steps of each kind' },
    state: { fallback: 'all', meaning: "the store has 'met' its persons, has just 'started', or each" },
    'step-events': { fallback: '10000', meaning: 'events of a step' },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async (context) => {
    const own = await OwnPostgres.start(join(context.folder, 'postgres'))
    const postgres = openPostgres({
      connectionString: own.databaseUrl,
      log: silent,
      statementMsMax: vacuumMsMax,
    })
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

/** Events of known persons. */
const kinds: Readonly<Record<string, Kind>> = {
  'no identity events': mixed(0),
  '10 % identity events': mixed(0.1),
  '50 % identity events': mixed(0.5),
  'each event changes its person': (random, person) =>
    visit(person, random.text(8), { utm_campaign: random.text(8) }),
}
const newPersons: Kind = (random) => visit(1e9 + random.below(1e9), random.text(8))

/** Each kind has people of its own: what an event costs depends on what was last said of its person. */
const kindCount = Object.keys(kinds).length
/** Beside them some who are only there to have statements planned. */
const shareCount = kindCount + 1
const planningEvents = 200

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
  const share = Math.ceil(personCount / shareCount)
  const stepEvents = integerOption(options, 'step-events')
  const random = createRandom(integerOption(options, 'seed'))
  await migrate({ postgres, log: silent })
  await addProjects(postgres)
  await addPersons(postgres, personCount)
  say(`${personCount} persons are there`)
  const steps = new Steps(server, store)
  const samples: Samples = new Map()
  const plan: Plan = { steps, random, share, stepEvents, rounds: integerOption(options, 'samples'), samples }
  if (options.state !== 'met') await takeStarted(plan)
  if (options.state !== 'started') await takeMet(plan)
  if (options.state === 'all') {
    for (let round = -1; round < plan.rounds; round++) await take(plan, 'new persons', newPersons, 0, round)
  }
  const { rows } = await postgres.query<{ billable: number }>(
    'select sum(billable)::bigint as billable from usage_daily',
  )
  const counted = rows[0]?.billable ?? 0
  return {
    rows: [...samples].map(([name, list]) => ({ name, value: describe(list) })),
    broken: counted === steps.applied ? [] : [`${counted} of ${steps.applied} events were counted`],
    slow: [],
  }
}

type Samples = Map<string, Sample[]>

interface Plan {
  readonly steps: Steps
  readonly random: Random
  /** Persons of a kind. */
  readonly share: number
  readonly stepEvents: number
  /** That count; one before them warms up. */
  readonly rounds: number
  readonly samples: Samples
}

/** A store that has just started, each time. */
async function takeStarted(plan: Plan): Promise<void> {
  for (let round = -1; round < plan.rounds; round++) {
    for (const [place, [name, kind]] of Object.entries(kinds).entries()) {
      await start(plan)
      await take(plan, `${name}, just started`, kind, place, round)
    }
  }
}

/** A store that has met every person once. */
async function takeMet(plan: Plan): Promise<void> {
  await start(plan)
  const count = kindCount * plan.share
  let met = 0
  while (met < count)
    await plan.steps.apply(inputsOf(Math.min(plan.stepEvents, count - met), () => visit(met++, '')))
  for (let round = -1; round < plan.rounds; round++) {
    for (const [place, [name, kind]] of Object.entries(kinds).entries())
      await take(plan, `${name}, met before`, kind, place, round)
  }
}

/** Has the store forget everybody, and its new session plan its statements. */
async function start({ steps, random, share }: Plan): Promise<void> {
  await steps.takeStore()
  await steps.apply(inputsOf(planningEvents, () => telling(random, kindCount * share + random.below(share))))
}

async function take(
  { steps, random, share, stepEvents, samples }: Plan,
  name: string,
  kind: Kind,
  place: number,
  round: number,
): Promise<void> {
  const inputs = inputsOf(stepEvents, () => kind(random, place * share + random.below(share)))
  const sample = await steps.apply(inputs)
  if (round >= 0) samples.set(name, [...(samples.get(name) ?? []), sample])
}

/** Steps of one store, one after the other. */
class Steps {
  readonly #server: OwnPostgres
  readonly #store: PostgresStore
  readonly #epoch = crypto.randomUUID()
  #offsets: Offsets = forLanes(() => originOffset)
  /** Events of all steps. */
  applied = 0

  constructor(server: OwnPostgres, store: PostgresStore) {
    this.#server = server
    this.#store = store
  }

  /** Has the store forget what it remembers, as a new process would. */
  async takeStore(): Promise<void> {
    const { offsets } = await waitFor('the lock of the session before is free', 10_000, () =>
      this.#store.take(this.#epoch).catch((error: unknown) => {
        if (isServiceError(error, 'store_fenced')) return null
        throw error
      }),
    )
    this.#offsets = offsets
  }

  async apply(inputs: readonly UnreadInput[]): Promise<Sample> {
    const events = inputs.reduce(
      (sum, input) => sum + (input.kind === 'events' ? input.to - input.from : 0),
      0,
    )
    const to = behind(this.#offsets)
    const [wallMs, cpu, postgresMs] = [machineMs(), process.cpuUsage(), this.#server.cpuMs()]
    await this.#store.apply({
      from: this.#offsets,
      to,
      marks: forLanes(() => null),
      inputs,
      gaps: [],
      setAside: [],
      spikes: [],
      nowMs: Date.now(),
    })
    const { user, system } = process.cpuUsage(cpu)
    const wallMicros = ((machineMs() - wallMs) * 1000) / events
    const postgresMicros = ((this.#server.cpuMs() - postgresMs) * 1000) / events
    this.#offsets = to
    this.applied += events
    return { wallMicros, threadMicros: (user + system) / events, postgresMicros }
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
    return rangeOf(batchOf(size, make))
  })
}

/** Places that no journal has: only that they move on counts here. */
function behind({ realtime, historical }: Offsets): Offsets {
  return { realtime: { ...realtime, index: realtime.index + 1 }, historical }
}
