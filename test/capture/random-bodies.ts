// Random capture bodies for what the generators of event-text.ts never come to: many events that share names and ids,
// any white space, every mapped property, ids that properties repeat or almost repeat, and records of any size.
// Everything follows from a seed.

import { type CaptureTask, capturePaths } from '../../src/capture/capture-task.ts'
import type { GeoipFiles } from '../../src/geoip/database.ts'
import { seededRandom } from '../journal/simulated-disk.ts'
import { mappedNames } from './mapped-names.ts'
import { task } from './tasks.ts'

/** A whole number below its argument. */
type Random = (below: number) => number

const otherKeys = [
  'distinct_id distinct_id distinct_id token $ip $sent_at $session_id $ignore_sent_at capture_internal',
  '$group_0 $group_4 $elements $elements_chain $geoip_disable $geoip_city_name $geoip_time_zone $set $set $set_once',
  '$unset $groups $anon_distinct_id alias $group_type $group_key $group_set $process_person_profile a b plan a$set',
  '$se $sett __proto__ properties event',
]
const keys = [...otherKeys.join(' ').split(' '), ...mappedNames, 'x'.repeat(70), 'ü']

const names = [
  '$pageview $pageview $autocapture $identify $create_alias $merge_dangerously $groupidentify $set $snapshot',
  '$exception $$heatmap $screen $feature_flag_called $performance_event $$client_ingestion_warning bought',
]
  .join(' ')
  .split(' ')
  .concat('survey shown', 'survey sent', '')

const strings = [
  '',
  'x',
  'iOS',
  '/',
  'https://example.com/?a={"b":[1]}',
  'é',
  '😀',
  '"',
  '\\',
  ':',
  ',',
  '}',
  '  ',
]
const bare = ['0', '-0', '1.10', '12345678901234567890', '1e5', 'true', 'false', 'null']

/** The task of a seed. */
export function randomTask(seed: number, geoip: GeoipFiles): CaptureTask {
  const draw = seededRandom(seed)
  const random: Random = (below) => Math.floor(draw() * below)
  const body = bodyText(random)
  const limits = { ...task('').limits, recordBytesMax: 1 << (6 + random(18)) }
  return task(body, {
    limits,
    path: pick(random, capturePaths),
    geoip: random(2) === 0 ? geoip : null,
    clientIp: pick(random, ['203.0.113.7', '81.2.69.160', '']),
  })
}

/** The task of a seed for events of one SDK: the same keys in the same order, most of them mapped, compactly. */
export function alikeTask(seed: number, geoip: GeoipFiles): CaptureTask {
  const random: Random = (below) => Math.floor(draw() * below)
  const draw = seededRandom(seed)
  const others =
    random(3) === 0 ? keysOf(random) : ['a', 'b', '$ip', '$elements_chain', '$groups', 'distinct_id']
  const layout = shuffled(random, [
    ...new Set([...others, ...shuffled(random, mappedNames).slice(random(50))]),
  ])
  const events = Array.from({ length: 2 + random(10) }, () => {
    const id = `"user ${random(4)}"`
    const members = layout.map((key) => `"${key}":${propertyText(random, key, id)}`)
    const name = random(2) === 0 ? 'bought' : pick(random, names)
    const ids = `"uuid":"018f3c29-0000-7000-8000-${String(random(1e9)).padStart(12, '0')}","distinct_id":${id}`
    const timestamp = `2024-05-01T1${random(10)}:0${random(10)}:00.${random(10)}0${random(10)}Z`
    return `{"event":"${name}","properties":{${members.join(',')}},${ids},"timestamp":"${timestamp}"}`
  })
  const body = `{"api_key":"phc_test","batch":[${events.join(',')}]}`
  return task(body, { clientIp: '203.0.113.7', geoip: random(4) === 0 ? geoip : null })
}

function bodyText(random: Random): string {
  const ids = Array.from({ length: 1 + random(random(4) === 0 ? 900 : 6) }, (_, index) =>
    idText(random, index),
  )
  const count = random(8) === 0 ? random(1500) : random(12)
  let layout = keysOf(random)
  const events = Array.from({ length: count }, () => {
    if (random(3) === 0) layout = keysOf(random)
    return eventText(random, ids, layout)
  })
  const key = `"api_key":"${random(6) === 0 ? 'phc_private' : 'phc_test'}"`
  const sentAt = random(2) === 0 ? '' : ',"sent_at":"2024-05-01T12:00:10Z"'
  switch (random(6)) {
    case 0:
      return events.length === 0 ? '{}' : `{${key},${events[0]!.slice(1)}`
    case 1:
      return `[${events.map((event) => `{${key},${event.slice(1)}`).join(',')}]`
    default:
      return `{${key}${sentAt},"batch":[${events.join(`${space(random)},${space(random)}`)}]}`
  }
}

/** An event that begins with a member, so that another can stand before it. */
function eventText(random: Random, ids: readonly string[], layout: readonly string[]): string {
  const id = pick(random, ids)
  const entries: [string, string][] = []
  if (random(30) > 0)
    entries.push(['event', random(3) === 0 ? `"e${random(700)}"` : spelt(random, pick(random, names))])
  if (random(5) > 0) entries.push(['distinct_id', id])
  if (random(2) === 0)
    entries.push(['uuid', `"018f3c29-0000-7000-8000-${String(random(1e9)).padStart(12, '0')}"`])
  if (random(20) > 0) entries.push(['properties', propertiesText(random, id, layout)])
  for (const key of ['$set', '$set_once', '$unset']) {
    if (random(6) === 0) entries.push([key, setText(random)])
  }
  if (random(12) === 0) entries.push([pick(random, keys), id])
  if (random(40) === 0) entries.push(['event', pick(random, ['5', 'null', '"again"'])])
  const [first, ...others] = shuffled(random, entries)
  return objectText(random, [['timestamp', '"2024-05-01T11:00:00Z"'], ...(first ? [first] : []), ...others])
}

function propertiesText(random: Random, id: string, layout: readonly string[]): string {
  const entries = layout.map((key): [string, string] => [key, propertyText(random, key, id)])
  return objectText(random, entries)
}

function propertyText(random: Random, key: string, id: string): string {
  switch (key) {
    case 'distinct_id':
      return pick(random, [
        id,
        id,
        id,
        `${id.slice(0, -1)}"`,
        respelt(id),
        `"${id.slice(1)}`,
        '"other"',
        spelt(random, pick(random, strings)),
      ])
    case '$set':
    case '$set_once':
    case '$unset':
    case '$groups':
    case '$group_set':
      return random(4) === 0 ? valueText(random, 0) : setText(random)
    case '$process_person_profile':
      return pick(random, ['false', 'true', 'true', 'null', '"false"'])
    case '$ip':
      return pick(random, ['"81.2.69.160"', '"1.2.3.4"', '""', 'null', '5'])
    case '$elements':
      return pick(random, ['[{"tag_name":"a","$el_text":"Go"},{"tag_name":"div"}]', '[]', 'null', '[1]'])
    case '$geoip_disable':
      return pick(random, ['true', 'false', '0', '""', 'null', '"x"', '{}'])
    case '$session_id':
      return pick(random, [
        '"018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6A"',
        '"\\u0030' + '18F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6A"',
        '7',
      ])
    default:
      return random(500) === 0 ? `"${'long '.repeat(random(30_000))}"` : valueText(random, 0)
  }
}

function setText(random: Random): string {
  if (random(5) === 0) return pick(random, ['[]', '[ ]', '{ }', 'null', '["a","b"]', '[ "a" , 1 ]', '"a"'])
  const entries = Array.from({ length: random(4) }, (): [string, string] => [
    pick(random, keys),
    valueText(random, 1),
  ])
  return objectText(random, entries)
}

function valueText(random: Random, depth: number): string {
  switch (random(depth < 2 ? 6 : 4)) {
    case 0:
      return pick(random, bare)
    case 4:
      return `[${space(random)}${Array.from({ length: random(3) }, () => valueText(random, depth + 1)).join(', ')}]`
    case 5:
      return objectText(random, [[pick(random, keys), valueText(random, depth + 1)]])
    default:
      return spelt(random, pick(random, strings))
  }
}

function objectText(random: Random, entries: readonly (readonly [string, string])[]): string {
  // As a rule compact, or with the spaces of some printer; sometimes with any.
  const style = random(6)
  const gap = (): string => (style === 0 ? space(random) : style === 1 ? ' ' : '')
  const texts = entries.map(([key, value]) => `${spelt(random, key)}${gap()}:${gap()}${value}${gap()}`)
  return `{${texts.join(`,${gap()}`)}}`
}

/** Names of properties, some of them twice. */
function keysOf(random: Random): string[] {
  return Array.from({ length: random(4) === 0 ? random(60) : random(12) }, () => pick(random, keys))
}

function idText(random: Random, index: number): string {
  switch (random(14)) {
    case 0:
      return pick(random, [
        '23',
        'true',
        '["a",1]',
        '{"b":1,"a":[2]}',
        'null',
        '""',
        '" \\t"',
        '"$posthog_cookieless"',
      ])
    case 1:
      return `"${'z'.repeat(198 + random(5))}"`
    case 2:
      return `"${'😀'.repeat(198 + random(5))}"`
    case 3:
      return `"a\\u001e${index}"`
    case 4:
      return `"\\ud800\\u0000${index}"`
    default:
      return `"user ${index}"`
  }
}

/** The same string, its last letter as an escape. */
function respelt(text: string): string {
  const letter = text.at(-2) ?? ''
  return /^[a-z0-9]$/.test(letter) && text.startsWith('"')
    ? `${text.slice(0, -2)}\\u00${letter.charCodeAt(0).toString(16)}"`
    : text
}

function spelt(random: Random, text: string): string {
  const printed = JSON.stringify(text)
  return random(25) === 0
    ? printed.replace(/[a-z$]/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
    : printed
}

function space(random: Random): string {
  return pick(random, ['', '', ' ', '\n', '\r\n\t', ' '.repeat(random(24))])
}

function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  const list = [...values]
  for (let index = list.length - 1; index > 0; index--) {
    const other = random(index + 1)
    ;[list[index], list[other]] = [list[other]!, list[index]!]
  }
  return list
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random(values.length)]! // below the length
}
