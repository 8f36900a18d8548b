// What every persons' store keeps, whatever it is made of.

import type { Test } from 'tap'
import { forLanes, type Offsets, originOffset } from '../../src/consumer/offset.ts'
import type { Warning } from '../../src/identity/changes.ts'
import type { UnreadInput } from '../../src/identity/operations.ts'
import type { Position } from '../../src/journal/journal.ts'
import type { PersonsStep, PersonsStore, StoredProgress } from '../../src/persons/persons-store.ts'
import { capturedBatch, nowMs, rangeOf, type SentEvent, type SentFacts } from '../identity/captured.ts'
import { until } from '../support/until.ts'

export const epoch = '11111111-2222-4333-8444-555555555555'

/** A database with the projects 1 and 2. */
export interface PersonsWorld {
  /** Another consumer's store on the same database. */
  open(): PersonsStore
  /** All rows, in the shape of MemoryStore.dump. */
  dump(): Promise<PersonsDump>
}

export interface PersonsDump {
  /** One for each project. */
  readonly tables: readonly unknown[]
  readonly counts: unknown
  readonly overrides: unknown
  readonly tombstones: unknown
  readonly mirroredTypes: unknown
  readonly usage: unknown
}

/** The start of the journal. */
export const start: Offsets = forLanes(() => originOffset)

/** Offsets at `position` of the realtime lane. */
export function at(position: number): Offsets {
  return { ...start, realtime: { position: position as Position, index: 0 } } // positions of no real journal
}

export function stepOf(from: Offsets, to: Offsets, inputs: readonly UnreadInput[]): PersonsStep {
  return { from, to, marks: forLanes(() => null), inputs, gaps: [], setAside: [], spikes: [], nowMs }
}

export function eventsOf(events: readonly SentEvent[], facts: SentFacts = {}): UnreadInput[] {
  const batch = capturedBatch(events, facts)
  return batch === null ? [] : [rangeOf(batch)]
}

const signUp: readonly SentEvent[] = [
  {
    uuid: '00000000-0000-7000-8000-000000000001',
    event: '$pageview',
    distinct_id: 'anon',
    timestamp: '2024-05-01T11:00:00.123456Z',
    $set_once: { first: 'page' },
  },
  {
    uuid: '00000000-0000-7000-8000-000000000002',
    event: '$identify',
    distinct_id: 'anna@example.com',
    timestamp: '2024-05-01T11:01:00Z',
    properties: { $anon_distinct_id: 'anon', $set: { name: 'Änna "A" \\', big: 12 } },
  },
  {
    uuid: '00000000-0000-7000-8000-000000000003',
    event: '$groupidentify',
    distinct_id: 'anna@example.com',
    timestamp: '2024-05-01T11:02:00Z',
    properties: { $group_type: 'company', $group_key: 'acme', $group_set: { seats: 5 } },
  },
]

/** uuidv5 of "1:anon" and "1:anna@example.com" in the namespace of persons. */
const anonBorn = '7318c711-4e13-553f-aa67-bd012837acb9'
const annaBorn = 'babc7604-476f-5310-89f2-9111c610215d'

/** The lock goes with the connection it was taken over, which the server may close a moment later. */
export async function takeAgain(store: PersonsStore): Promise<StoredProgress | null> {
  let stored: StoredProgress | null = null
  await until(async () => {
    stored = await store.take(epoch).catch(() => null)
    return stored !== null
  })
  return stored
}

function emptyProject(projectId: number): object {
  const flags = { hasEvents: false, hasGroupTypes: false }
  return { projectId, ...flags, persons: [], owners: [], groupTypes: new Map(), groups: [] }
}

export function testStore(t: Test, makeWorld: (t: Test) => Promise<PersonsWorld>): void {
  t.test('stores what a sign-up leaves behind', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    t.match(await store.take(epoch), { epoch, offsets: start })

    t.equal(await store.apply(stepOf(start, at(80), eventsOf(signUp))), true)

    t.same(await world.dump(), {
      tables: [
        {
          projectId: 1,
          hasEvents: true,
          hasGroupTypes: true,
          groupTypes: new Map([['company', 0]]),
          persons: [
            {
              projectId: 1,
              uuid: anonBorn,
              createdAtMicros: 1_714_561_200_123_456,
              isIdentified: true,
              version: 1,
              properties: {
                first: 'page',
                name: 'Änna "A" \\',
                big: 12,
                $creator_event_uuid: '00000000-0000-7000-8000-000000000001',
              },
            },
          ],
          owners: [
            ['anna@example.com', anonBorn],
            ['anon', anonBorn],
          ],
          groups: [
            [
              '0 acme',
              {
                projectId: 1,
                typeIndex: 0,
                key: 'acme',
                createdAtMicros: 1_714_561_320_000_000,
                version: 1,
                properties: { seats: 5 },
              },
            ],
          ],
        },
        emptyProject(2),
      ],
      counts: new Map(),
      overrides: new Map([[annaBorn, anonBorn]]),
      tombstones: new Map(),
      mirroredTypes: new Map([['1 company', 0]]),
      usage: new Map([['1 2024-05-01', { billable: 3, historical: 0 }]]),
    })
  })

  t.test('applies a step once: a repetition is fenced and changes nothing', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    await store.take(epoch)
    const step = stepOf(start, at(80), eventsOf(signUp))
    await store.apply(step)
    const before = await world.dump()

    await t.rejects(store.apply(step), { code: 'store_fenced' })

    t.same(await world.dump(), before)
    t.match(await takeAgain(store), { epoch, offsets: at(80) })
    t.equal(await store.apply(stepOf(at(80), at(160), [])), true)
  })

  t.test('a second consumer is refused until the first has given the store up', async (t) => {
    const world = await makeWorld(t)
    const first = world.open()
    const second = world.open()
    t.teardown(() => second.close())
    await first.take(epoch)
    await first.apply(stepOf(start, at(80), eventsOf(signUp)))
    const before = await world.dump()

    await t.rejects(second.take(epoch), { code: 'store_fenced' })

    t.same(await world.dump(), before)
    await first.close()
    t.match(await second.take(epoch), { epoch, offsets: at(80) })
  })

  t.test('says which journal it was made from', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    await store.take(epoch)
    t.match(await store.take('99999999-2222-4333-8444-555555555555'), { epoch, offsets: start })
  })

  t.test('remembers the last record of each lane until there is a later one', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    t.match(await store.take(epoch), { marks: { realtime: null, historical: null } })
    const realtime = { position: 72 as Position, checksum: 0xffff_ffff }
    const historical = { position: 8 as Position, checksum: 0 }
    await store.apply({ ...stepOf(start, at(80), []), marks: { realtime, historical: null } })
    t.match(await takeAgain(store), { marks: { realtime, historical: null } })
    await store.apply({ ...stepOf(at(80), at(160), []), marks: { realtime: null, historical } })
    t.match(await takeAgain(store), { marks: { realtime, historical } })
  })

  t.test('keeps projects apart, counts history apart, and ignores who does not exist', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    await store.take(epoch)
    const event = { event: 'e', distinct_id: 'u' }
    await store.apply(
      stepOf(start, at(80), [
        ...eventsOf([event], { projectId: 1 }),
        ...eventsOf([event, event], { projectId: 2, historical: true }),
        ...eventsOf([event], { projectId: 42 }),
      ]),
    )
    const { tables, usage } = await world.dump()
    t.match(tables, [
      { projectId: 1, persons: [{ uuid: 'a3f809d2-8688-5e0c-b374-3a81f639ed8d' }] },
      { projectId: 2, persons: [{ uuid: 'c38ca46b-cb44-59cb-841c-b20bb75df961' }] },
    ])
    t.same(
      usage,
      new Map([
        ['1 2024-05-01', { billable: 1, historical: 0 }],
        ['2 2024-05-01', { billable: 0, historical: 2 }],
      ]),
    )
  })

  t.test('deletes a person with its ids, and the next event makes a new one', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    await store.take(epoch)
    await store.apply(stepOf(start, at(80), eventsOf(signUp)))
    const deletion: UnreadInput = {
      kind: 'delete_person',
      projectId: 1,
      personUuid: anonBorn,
      deletesEvents: true,
      deletedAtMs: nowMs,
    }
    await store.apply(stepOf(at(80), at(160), [deletion]))
    const { tables, overrides, tombstones } = await world.dump()
    t.match(tables[0], { persons: [], owners: [] })
    const both = (annaTo: unknown, anonTo: unknown) =>
      new Map([
        [annaBorn, annaTo],
        [anonBorn, anonTo],
      ])
    t.same(overrides, both(annaBorn, anonBorn))
    t.same(tombstones, both(nowMs, nowMs))
    await store.apply(stepOf(at(160), at(240), eventsOf([{ event: 'e', distinct_id: 'anon' }])))
    t.match(await world.dump(), {
      tables: [{ persons: [{ uuid: anonBorn, isIdentified: false }], owners: [['anon', anonBorn]] }, {}],
    })
  })

  t.test(
    'moves every id of a person that takes in another and then goes, named by an id of that',
    async (t) => {
      const world = await makeWorld(t)
      const store = world.open()
      t.teardown(() => store.close())
      await store.take(epoch)
      const join = (into: string, source: string): SentEvent => {
        return { event: '$merge_dangerously', distinct_id: into, properties: { alias: source } }
      }
      const known = [join('a1', 'a2'), join('b1', 'b2'), { event: 'e', distinct_id: 'c' }]
      await store.apply(stepOf(start, at(80), eventsOf(known)))
      // No id is in both merges: that the second one takes b away follows from a being b by then.
      await store.apply(stepOf(at(80), at(160), eventsOf([join('b1', 'a1'), join('c', 'a2')])))
      const cBorn = '013dafea-5553-5166-bba1-4d5d637c6839'
      t.match(await world.dump(), {
        tables: [
          { persons: [{ uuid: cBorn }], owners: ['a1', 'a2', 'b1', 'b2', 'c'].map((id) => [id, cBorn]) },
          {},
        ],
      })
    },
  )

  t.test('keeps warnings of spikes, but not of projects that are not there', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    await store.take(epoch)
    const spikeOf = (projectId: number): Warning => ({
      projectId,
      reason: 'spike',
      count: 7,
      firstSeenMs: nowMs,
      lastSeenMs: nowMs,
      sample: { event: 'e', distinctId: 'u', detail: 'too many' },
    })
    const inputs: UnreadInput[] = [1, 2, 42].flatMap((projectId) =>
      eventsOf([{ event: 'e', distinct_id: 'u' }], { projectId }),
    )
    inputs.push({ kind: 'delete_project', projectId: 2 })
    await store.apply({ ...stepOf(start, at(80), inputs), spikes: [1, 2, 42].map(spikeOf) })
    t.same((await world.dump()).counts, new Map([['spike', 7]]))
  })

  t.test('deletes a project with everything that belongs to it', async (t) => {
    const world = await makeWorld(t)
    const store = world.open()
    t.teardown(() => store.close())
    await store.take(epoch)
    await store.apply(stepOf(start, at(80), eventsOf(signUp)))
    await store.apply(stepOf(at(80), at(160), [{ kind: 'delete_project', projectId: 1 }]))
    await store.apply(stepOf(at(160), at(240), eventsOf(signUp)))
    t.same((await world.dump()).tables, [emptyProject(2)])
  })
}
