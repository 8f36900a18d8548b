// Events that tell who is who: every kind that connects ids, sets person properties or names groups, and anonymous
// ones between. They hold little else, so that a load of them is one of persons and groups.
//
// There is no order between lanes, and a project has one list of group types: groups are named in the realtime lane
// only.

import type { Lane } from '../src/journal/journal.ts'
import { createTemplate, type Template } from './event-template.ts'
import type { Random } from './random.ts'

/** One more than a project may have, twice over: those that come too late are ignored. */
const groupTypes = ['company', 'team', 'plan', 'region', 'store', 'venue', 'device'] as const

const realtimeKinds = [
  ...Array<'identify'>(6).fill('identify'),
  'alias',
  'merge',
  'set',
  'set',
  'group',
  'visit',
  'visit',
  'anonymous',
] as const
const historicalKinds = realtimeKinds.filter((kind) => kind !== 'group')

/** Draws an event; `otherId` draws one of the ids that it may name beside its own. */
export function createIdentityTemplate(random: Random, lane: Lane, otherId: () => string): Template {
  const kind = random.pick<(typeof realtimeKinds)[number]>(
    lane === 'realtime' ? realtimeKinds : historicalKinds,
  )
  switch (kind) {
    case 'identify': {
      const anonymousId = random.next()
      // Some name nobody, and some an id that nobody may be merged with.
      const other = anonymousId < 0.03 ? 'null' : otherId()
      return createTemplate(
        '$identify',
        anonymousId < 0.2 ? {} : { $anon_distinct_id: other },
        personOf(random),
      )
    }
    case 'alias':
      return createTemplate('$create_alias', { alias: otherId() }, {})
    case 'merge':
      return createTemplate('$merge_dangerously', { alias: otherId() }, personOf(random))
    case 'set':
      return createTemplate(
        '$set',
        random.next() < 0.4 ? { $unset: [random.pick(names)] } : {},
        personOf(random),
      )
    case 'group':
      return createTemplate('$groupidentify', groupOf(random), {})
    case 'visit':
      return createTemplate('visited', visitOf(random, lane), {})
    case 'anonymous':
      return createTemplate('visited', { ...visitOf(random, lane), $process_person_profile: false }, {})
  }
}

const names = ['email', 'plan', 'seats', 'first_seen', 'tags'] as const

function personOf(random: Random): Template['person'] {
  const $set = { [random.pick(names)]: drawValue(random), plan: random.pick(['free', 'team', 'scale']) }
  return random.next() < 0.5 ? { $set } : { $set, $set_once: { [random.pick(names)]: drawValue(random) } }
}

function drawValue(random: Random): unknown {
  return random.pick([random.below(5), random.text(3), `„${random.text(2)}“`, null, { a: [random.below(3)] }])
}

function groupOf(random: Random): Template['properties'] {
  return {
    $group_type: random.pick(groupTypes),
    $group_key: `key ${random.below(8)}`,
    $group_set: { seats: random.below(4), [random.pick(names)]: random.text(2) },
  }
}

function visitOf(random: Random, lane: Lane): Template['properties'] {
  const page = {
    $current_url: `https://example.com/${random.text(2)}`,
    $browser: random.pick(['Chrome', 'Safari']),
  }
  const campaign = random.next() < 0.3 ? { utm_campaign: random.text(2) } : {}
  if (lane === 'historical' || random.next() < 0.5) return { ...page, ...campaign }
  return { ...page, ...campaign, $groups: { [random.pick(groupTypes)]: `key ${random.below(8)}` } }
}
