// Random histories: what clients may send in any order, over so few ids, keys and values that they meet often.

import { fail } from 'node:assert/strict'
import fc from 'fast-check'
import { type SentEvent, uuidOf } from './captured.ts'

/** One thing that happens. */
export type Happening =
  | { readonly kind: 'event'; readonly event: SentEvent }
  /** Deletes the person that is born to this id. */
  | { readonly kind: 'delete_person'; readonly distinctId: string; readonly hidesEvents: boolean }

export interface History {
  readonly happenings: readonly Happening[]
  /** Where a step ends, as places in `happenings`. */
  readonly cuts: readonly number[]
  /** Steps that fail once before they succeed. */
  readonly crashes: readonly number[]
}

export const ids = ['a', 'b', 'c', 'd', 'e', 'null'] as const

const id = fc.constantFrom(...ids, 'a', 'b')
const value = fc.constantFrom<unknown>(
  1,
  2,
  'x',
  'ü\n"',
  { n: 1, m: [1, 2] },
  { m: [1, 2], n: 1 },
  [1],
  null,
  true,
  0.5,
)
const personKey = fc.constantFrom(
  ...['k', 'm', '$browser', '$os', '$os_name', 'utm_source', '$initial_browser', '$creator_event_uuid'],
)
const personObject = fc.dictionary(personKey, value, { maxKeys: 3 })
const unset = fc.oneof(fc.array(personKey, { maxLength: 2 }), personObject)
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { freq: 3, nil: undefined })

const page = fc.record(
  {
    $browser: fc.constantFrom('Chrome', 'Safari'),
    $os: fc.constantFrom('Linux', 'Mac'),
    $os_name: fc.constantFrom('iOS', '', null),
    $current_url: fc.constantFrom('/1', '/2', '/3'),
    utm_source: fc.constantFrom('x', 'y'),
    $app_version: fc.constantFrom(1, '2'),
  },
  { requiredKeys: [] },
)

const said = fc.record({
  page: fc.oneof(fc.constant({}), page),
  $set: rarely(personObject),
  $set_once: rarely(personObject),
  $unset: rarely(unset),
  $groups: rarely(
    fc.dictionary(fc.constantFrom('t0', 't1', 't2', 't3', 't4', 't5', 't6'), id, { maxKeys: 2 }),
  ),
  topSet: rarely(personObject),
  topSetOnce: rarely(personObject),
  isAnonymous: fc.constantFrom(false, false, false, true),
})

const named = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ event: fc.constantFrom('e', '$pageview', 'survey shown', '$set', '$exception') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      event: fc.constant('$identify'),
      $anon_distinct_id: fc.option(id, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      event: fc.constantFrom('$create_alias', '$merge_dangerously'),
      alias: fc.oneof(id, fc.constant('')),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      event: fc.constant('$groupidentify'),
      $group_type: fc.constantFrom('t0', 't1', 't2', 't7', ''),
      $group_key: fc.constantFrom('g', 'h'),
      $group_set: rarely(fc.dictionary(fc.constantFrom('k', 'm'), value, { maxKeys: 2 })),
    }),
  },
)

const event = fc.record({ id, minute: fc.nat(59), said, named }).map(({ id, minute, said, named }) => {
  const { event, ...own } = named
  const { page, topSet, topSetOnce, isAnonymous, ...sets } = said
  return {
    event,
    distinct_id: id,
    timestamp: `2024-05-01T1${minute % 3}:${String(minute).padStart(2, '0')}:00.000Z`,
    $set: topSet,
    $set_once: topSetOnce,
    properties: {
      ...page,
      ...sets,
      ...own,
      ...(isAnonymous ? { $process_person_profile: false } : {}),
    },
  }
})

const happening = fc.oneof(
  { weight: 12, arbitrary: event.map((one) => ({ kind: 'event' as const, event: one })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete_person' as const),
      distinctId: id,
      hidesEvents: fc.boolean(),
    }),
  },
)

/**
 * A history of at most `length` happenings, drawn from a handful of different ones: clients repeat themselves. Every
 * event has a uuid of its own.
 */
export function history(length: number): fc.Arbitrary<History> {
  const happenings = fc
    .tuple(
      fc.array(happening, { minLength: 1, maxLength: length }),
      fc.array(fc.nat(length), { maxLength: length }),
    )
    .map(([pool, picks]) => picks.map((pick) => pool[pick % pool.length] ?? fail('a pool of one or more')))
    .map((list) => list.map(withUuid))
  return fc.record({
    happenings,
    cuts: fc.array(fc.nat(length), { maxLength: 8 }),
    crashes: fc.array(fc.nat(8), { maxLength: 3 }),
  })
}

function withUuid(one: Happening, index: number): Happening {
  return one.kind === 'event' ? { ...one, event: { ...one.event, uuid: uuidOf(index + 1) } } : one
}
