// posthog-node, as published, against a server: what it captures is stored once, whatever happens on the way.

import { createHash } from 'node:crypto'
import { PostHog } from 'posthog-node'
import { PostHog as PostHog3 } from 'posthog-node-3'
import t from 'tap'
import type { StoredEvent } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { type Gate, openGate } from './gate.ts'

const server = await startServer(t, { nowMs: null })

/** The part of the SDK that both versions have. */
interface Sdk {
  readonly name: string
  capture(message: { distinctId: string; event: string; properties: object; timestamp: Date }): void
  identify(message: { distinctId: string; properties: object }): void
  alias(message: { distinctId: string; alias: string }): void
  groupIdentify(message: { groupType: string; groupKey: string; properties: object }): void
  /** Sends what waits and ends. */
  finish(): Promise<void>
}

const options = { flushAt: 20, flushInterval: 60_000, fetchRetryDelay: 50 }
const openers: readonly ((host: string) => Sdk)[] = [
  (host) => {
    const sdk = new PostHog(server.projectApiKey, { host, ...options })
    const finish = async (): Promise<void> => {
      await sdk.flush()
      await sdk.shutdown()
    }
    return Object.assign(sdk, { name: 'posthog-node', finish })
  },
  (host) => {
    const sdk = new PostHog3(server.projectApiKey, { host, ...options })
    const finish = async (): Promise<void> => {
      await sdk.flushAsync()
      await sdk.shutdownAsync()
    }
    return Object.assign(sdk, { name: 'posthog-node 3', finish })
  },
]

/** Sent uuids, each once for every time it was sent. */
function sentUuids(gate: Gate): string[] {
  return gate.captures().flatMap((passage) => passage.events.map((event) => event.uuid))
}

function storedUuids(rows: readonly StoredEvent[]): string[] {
  return rows.map((row) => row.id)
}

/** Seconds between the stored time and the expected one: the sender's clock is corrected by the time on the way. */
function secondsOff(row: StoredEvent, expected: Date): number {
  return Math.abs(Date.parse(row.timestamp) - expected.getTime()) / 1000
}

for (const open of openers) {
  t.test('everything captured is stored once, nothing is sent twice (case 106)', async (t) => {
    const gate = await openGate(t, server.url)
    const sdk = open(gate.url)
    const id = `${sdk.name} user`
    const happened = new Date(Date.now() - 3_600_000)
    for (let n = 0; n < 100; n++)
      sdk.capture({
        distinctId: id,
        event: `event ${n}`,
        properties: { n, text: 'ü 🦔' },
        timestamp: happened,
      })
    sdk.identify({ distinctId: id, properties: { plan: 'pro' } })
    sdk.alias({ distinctId: id, alias: `${id} alias` })
    sdk.groupIdentify({ groupType: 'company', groupKey: sdk.name, properties: { seats: 7 } })
    await sdk.finish()

    t.ok(
      gate.captures().every((passage) => passage.status === 200),
      'every request was taken',
    )
    const rows = await server.storedEvents({ distinct_id: id })
    const [group] = await server.storedEvents({ distinct_id: `$company_${sdk.name}` })
    t.equal(sentUuids(gate).length, 103)
    t.same(storedUuids([...rows, ...(group ? [group] : [])]).sort(), sentUuids(gate).sort())
    const custom = rows.filter((row) => row.event.startsWith('event '))
    t.same(
      custom.map((row) => [row.event, row.properties.n]).sort(([, a], [, b]) => Number(a) - Number(b)),
      Array.from({ length: 100 }, (_, n) => [`event ${n}`, n]),
    )
    t.ok(custom.every((row) => row.properties.text === 'ü 🦔' && secondsOff(row, happened) < 5))
    t.match(
      rows.filter((row) => row.event.startsWith('$')).map((row) => [row.event, row.properties]),
      [
        ['$identify', { $set: { plan: 'pro' }, $lib: 'posthog-node' }],
        ['$create_alias', { distinct_id: id, alias: `${id} alias` }],
      ],
    )
    t.match(group, {
      event: '$groupidentify',
      properties: { $group_type: 'company', $group_key: sdk.name, $group_set: { seats: 7 } },
    })
  })

  for (const fault of ['refuse', 'lose'] as const) {
    t.test(`what was answered 503 is sent again and stored once (case 110, ${fault})`, async (t) => {
      const gate = await openGate(t, server.url)
      const sdk = open(gate.url)
      const id = `${sdk.name} ${fault}`
      gate.failNext(fault)
      for (let n = 0; n < 5; n++)
        sdk.capture({ distinctId: id, event: `event ${n}`, properties: {}, timestamp: new Date() })
      await sdk.finish()
      t.same(
        gate.captures().map((passage) => passage.status),
        [503, 200],
      )
      const [refused, taken] = gate.captures().map((passage) => passage.events.map((event) => event.uuid))
      t.same(refused, taken, 'the same events were sent again')
      t.same(storedUuids(await server.storedEvents({ distinct_id: id })), taken)
    })
  }
}

t.test('a batch that is too large is halved until it fits (case 107)', async (t) => {
  const small = await startServer(t, { nowMs: null, env: { MAX_BODY_BYTES: '4096' } })
  const gate = await openGate(t, small.url)
  const sdk = new PostHog(small.projectApiKey, { host: gate.url, ...options, flushAt: 100 })
  for (let n = 0; n < 100; n++) {
    const noise = createHash('sha512').update(String(n)).digest('hex') // gzip makes it half as long at best
    sdk.capture({ distinctId: 'halved', event: `event ${n}`, properties: { noise } })
  }
  await sdk.flush()
  await sdk.shutdown()
  const statuses = gate.captures().map((passage) => [passage.events.length, passage.status])
  t.same(statuses.slice(0, 2), [
    [100, 413],
    [50, 413],
  ])
  t.equal(
    statuses.filter(([, status]) => status === 200).reduce((sum, [count = 0]) => sum + count, 0),
    100,
  )
  const rows = await small.storedEvents({ distinct_id: 'halved' })
  t.same(rows.map((row) => row.event).sort(), Array.from({ length: 100 }, (_, n) => `event ${n}`).sort())
})
