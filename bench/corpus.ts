// The corpus: events as posthog-js sends them, about 1.2 KB and 34 properties each, drawn from a seed.
//
// Everything that repeats between events of one visitor on one page is a template, printed once as JSON text; what
// differs from event to event (uuid, ids, times) is spliced in. So a generator costs a fraction of a microsecond an
// event and never competes with the server it drives. There are templates enough that neither a compressor nor a
// cache sees the same event twice in a batch.
//
// An event knows what the store must hold of it (`storedEvent`), so that an oracle can compare.
//
// Some events tell who is who: those of identity-event.ts. Each lane has people of its own, because there is no order
// between lanes: what becomes of a person that both write to is nobody's promise.

import type { Lane } from '../src/journal/journal.ts'
import { createTemplate, type Template } from './event-template.ts'
import { createIdentityTemplate } from './identity-event.ts'
import { createRandom, type Random } from './random.ts'
import type { StoredEvent } from './stored-event.ts'

/** Kinds of browser and screen. A visitor keeps to one: what is on a person changes seldom. */
const deviceCount = 16
/** A template of each event name for each device. */
const templatesOfDevice = 30
export const templateCount = deviceCount * templatesOfDevice
export const personCount = 10_000
/** So many ids meet in identity events, for so many requests: few enough that persons merge. */
const circleSize = 12
const circleRequests = 32

/** First instant of the corpus. Long past, so that no server takes an event to be from the future. */
const epochMs = Date.UTC(2024, 4, 1)

export interface Corpus {
  readonly seed: number
  readonly projectApiKey: string
  readonly templates: readonly Template[]
}

/** One event to send: a template and what is spliced into it. */
export interface CorpusEvent {
  readonly template: Template
  readonly uuid: string
  readonly person: number
  readonly insertId: string
  readonly timeMs: number
}

export function createCorpus(seed: number, projectApiKey: string): Corpus {
  const random = createRandom(seed)
  const templates: Template[] = []
  for (let device = 0; device < deviceCount; device++) {
    const ofDevice = createDevice(random)
    for (const event of eventNames) templates.push(drawTemplate(random, event, ofDevice, projectApiKey))
  }
  return { seed, projectApiKey, templates }
}

/** Where an event stands among the others. */
export interface EventPlace {
  readonly lane: Lane
  /** Of its request: people who meet in identity events are those of requests close to each other. */
  readonly request: number
  /** In its request. */
  readonly index: number
  /** How many of the request's events tell who is who. */
  readonly identityShare: number
}

/** Draws the next event of `random`'s stream. */
export function drawEvent(corpus: Corpus, random: Random, uuid: string, place: EventPlace): CorpusEvent {
  const { lane, request, index, identityShare } = place
  const laneBit = lane === 'historical' ? 1 : 0
  const isIdentity = random.next() < identityShare
  const draw = (): number => (isIdentity ? acquaintance(random, request, laneBit) : visitor(random, laneBit))
  const person = draw()
  return {
    template: isIdentity
      ? createIdentityTemplate(random, lane, () => distinctIdOf(draw()))
      : pageOf(corpus, random, person),
    uuid,
    person,
    insertId: random.text(16),
    timeMs: epochMs + (request + index) * 3 + random.below(1000),
  }
}

/** One of the events that a visitor's device sends. */
function pageOf({ templates }: Corpus, random: Random, person: number): Template {
  return templates[((person >> 1) % deviceCount) * templatesOfDevice + random.below(templatesOfDevice)]!
}

function visitor(random: Random, laneBit: number): number {
  return random.below(personCount / 2) * 2 + laneBit
}

/** One of a few people who are known to each other, and change as requests go on. */
function acquaintance(random: Random, request: number, laneBit: number): number {
  const circle = Math.max(0, Math.floor(request / circleRequests) - random.below(3))
  return personCount + (circle * circleSize + random.below(circleSize)) * 2 + laneBit
}

/** The event as JSON text. */
export function eventText({ template, uuid, person, insertId, timeMs }: CorpusEvent): string {
  const distinctId = distinctIdOf(person)
  return (
    `${template.head}"$insert_id":"${insertId}","$time":${timeMs / 1000},"distinct_id":"${distinctId}",` +
    `"$device_id":"${distinctId}"},${personText(template)}` +
    `"uuid":"${uuid}","timestamp":"${new Date(timeMs).toISOString()}"}`
  )
}

/** What the store must hold of the event. */
export function storedEvent(event: CorpusEvent, historical: boolean): StoredEvent {
  const { $elements_chain: elementsChain = '', ...properties } = event.template.properties
  const distinctId = distinctIdOf(event.person)
  return {
    event: event.template.event,
    distinctId,
    timestampMs: event.timeMs,
    historical,
    elementsChain: String(elementsChain),
    properties: {
      ...properties,
      $insert_id: event.insertId,
      $time: event.timeMs / 1000,
      distinct_id: distinctId,
      $device_id: distinctId,
      ...event.template.person,
    },
  }
}

/** The id that posthog-js would have given to person `index`: a uuid of version 7. */
function distinctIdOf(index: number): string {
  const hex = ((index + 1) * 2_654_435_761).toString(16).padStart(12, '0').slice(-12)
  return `018f3c2a-${hex.slice(0, 4)}-7${hex.slice(4, 7)}-8a1b-${hex}`
}

function personText(template: Template): string {
  const text = JSON.stringify(template.person)
  return text === '{}' ? '' : `${text.slice(1, -1)},`
}

const eventNames = [
  ...Array<string>(10).fill('$pageview'),
  ...Array<string>(8).fill('$autocapture'),
  ...Array<string>(4).fill('$pageleave'),
  '$identify',
  '$web_vitals',
  'signed up',
  'added to cart',
  'checkout completed',
  'search performed',
  'plan upgraded',
  'file uploaded',
] as const

const browsers = ['Chrome', 'Safari', 'Firefox', 'Microsoft Edge', 'Samsung Internet'] as const
const systems = ['Windows', 'Mac OS X', 'iOS', 'Android', 'Linux'] as const
const screens = ['1920x1080', '1440x900', '390x844', '412x915', '2560x1440'] as const
const sections = ['pricing', 'docs', 'blog', 'product', 'account/settings', 'shop/shoes', 'search'] as const
/** Pages that a campaign leads to, of all. */
const landingShare = 0.05
const campaigns = ['spring', 'launch-week', 'retargeting', 'brand', 'comparison', 'webinar'] as const
const referrers = ['$direct', 'www.google.com', 'news.ycombinator.com', 'www.linkedin.com', 't.co'] as const

/** What a visitor's browser says with every event, and who the visitor is. */
interface Device {
  readonly properties: Readonly<Record<string, unknown>>
  readonly width: number
  readonly height: number
  readonly person: Template['person']
}

function createDevice(random: Random): Device {
  const [width = 0, height = 0] = random.pick(screens).split('x').map(Number)
  return {
    width,
    height,
    properties: {
      $os: random.pick(systems),
      $os_version: `${random.below(14) + 1}.${random.below(9)}.0`,
      $browser: random.pick(browsers),
      $browser_version: 90 + random.below(40),
      $browser_language: random.pick(['en-US', 'de-DE', 'fr-FR', 'ja-JP', 'pt-BR']),
      $device_type: width > 500 ? 'Desktop' : 'Mobile',
      $raw_user_agent: `Mozilla/5.0 (X11; Linux x86_64) Chrome/${90 + random.below(40)}.0.0.0`,
      $screen_width: width,
      $screen_height: height,
      $timezone: random.pick(['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'UTC']),
      $lib: 'web',
      $lib_version: `1.${random.below(300)}.${random.below(9)}`,
    },
    person: {
      $set: { email: `${random.text(8)}@example.com`, plan: random.pick(['free', 'team', 'scale']) },
    },
  }
}

function drawTemplate(random: Random, event: string, device: Device, projectApiKey: string): Template {
  const properties = createProperties(random, event, device, projectApiKey)
  return createTemplate(event, properties, event === '$identify' ? device.person : {})
}

function createProperties(
  random: Random,
  event: string,
  { properties, width, height }: Device,
  projectApiKey: string,
): Record<string, unknown> {
  const path = `/${random.pick(sections)}/${random.text(6)}`
  const referrer = random.pick(referrers)
  return {
    token: projectApiKey,
    ...properties,
    $current_url: `https://example.com${path}?ref=${random.text(10)}`,
    $host: 'example.com',
    $pathname: path,
    $viewport_width: width - random.below(40),
    $viewport_height: height - random.below(200),
    $session_id: sessionId(random),
    $window_id: sessionId(random),
    $referrer: referrer === '$direct' ? referrer : `https://${referrer}/`,
    $referring_domain: referrer,
    $is_identified: random.next() < 0.4,
    '$feature/new-onboarding': random.pick(['control', 'test']),
    title: `${random.pick(sections)} – “${random.text(8)}” café`,
    ...visitProperties(random),
    price: random.below(100_000) / 100,
    ...ownProperties(random, event),
  }
}

/** A page that an advertisement led to says so, and that is a change of the person; the others name the way within. */
function visitProperties(random: Random): Record<string, unknown> {
  return random.next() < landingShare
    ? { utm_source: random.pick(['newsletter', 'google', 'partner']), utm_campaign: random.pick(campaigns) }
    : { section: random.pick(['header', 'footer', 'sidebar', null]), placement: random.text(10) }
}

function sessionId(random: Random): string {
  return `018f3c2b-77aa-7c11-9d2e-${String(random.below(1e12)).padStart(12, '0')}`
}

/** The properties that only this kind of event has. */
function ownProperties(random: Random, event: string): Record<string, unknown> {
  if (event === '$autocapture') {
    const chain = `a.nav-link:attr__href="/${random.text(6)}"nth-child="${random.below(9)}"text="Go";nav:nth-child="1"`
    return { $event_type: 'click', $ce_version: 1, $elements_chain: chain }
  }
  if (event === '$pageleave')
    return {
      $prev_pageview_duration: random.below(9e4) / 1000,
      $prev_pageview_pathname: `/${random.text(6)}`,
    }
  if (event === '$web_vitals') return { $web_vitals_LCP_value: random.next() * 4000 }
  return {
    items: [{ sku: random.text(8), quantity: random.below(5) + 1, tags: [random.text(4), null, true] }],
  }
}
