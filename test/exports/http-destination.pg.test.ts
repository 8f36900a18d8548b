import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { httpDestination, httpDestinationWith } from '../../src/exports/http-destination.ts'
import { postLimits } from '../../src/exports/http-post.ts'
import { testProjectApiKey } from '../support/client.ts'
import { startDns } from '../support/dns.ts'
import { listenFor } from '../support/listen.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { everythingOf } from './everything-of.ts'
import { columns, config, eventRows, never, outboundFor, stage, subject } from './staged.ts'

const csv = httpDestination.format(config('NoOp', {}))
/** The pauses between attempts are no part of what is tested. */
const quick = httpDestinationWith({ ...postLimits, pauseMs: 1 })
const hasty = httpDestinationWith({ ...postLimits, pauseMs: 1, silentMsMax: 500 })

interface Received {
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: { api_key: string; historical_migration: boolean; batch: { uuid: string; event: string }[] }
}

/** A receiver that answers with what `answer` says, after reading the request. */
async function receiver(
  t: Test,
  answer: (response: ServerResponse, count: number, received: Received) => unknown,
) {
  const received: Received[] = []
  const server = http.createServer(async (request: IncomingMessage, response) => {
    const body = JSON.parse(gunzipSync(await buffer(request)).toString())
    const one = { url: request.url ?? '', headers: request.headers, body }
    received.push(one)
    answer(response, received.length, one)
  })
  const port = await listenFor(t, server)
  return { url: `http://127.0.0.1:${port}/batch/?x=1`, received }
}

function open(
  t: Test,
  url: string,
  allow: string | null = '127.0.0.1',
  dnsServers: string | null = null,
  destination = quick,
) {
  const given = config('HTTP', { url, token: 'phc_open_sesame' })
  return destination.open(given, subject, outboundFor(t, allow, dnsServers), never)
}

/** A chunk with so many events. */
async function many(t: Test, count: number, bytes = 10) {
  const select = `select uuid, 'event ' || n as event, 'ada' as distinct_id, timestamp '2024-05-01' as timestamp,
    ('{"x":"' || repeat('x', ${bytes}) || '"}')::json as properties
    from (select uuid(), n from range(${count}) as numbers(n)) as ids(uuid, n)`
  const chunk = await stage(t, csv, select)
  const names = ['uuid', 'event', 'distinct_id', 'timestamp', 'properties']
  return { ...chunk, columns: names.map((name) => columns.find((column) => column.name === name)!) }
}

t.test('one Spate feeds another, and a chunk again changes nothing', async (t) => {
  const server = await startServer(t)
  const url = `${server.url}/batch/`
  const given = config('HTTP', { url, token: testProjectApiKey })
  const delivery = await httpDestination.open(given, subject, outboundFor(t), never)
  // The receiver takes no event without a distinct_id, and none of the year 9999.
  const select = `select uuid::uuid as uuid, event, distinct_id, properties::json as properties,
      chain as elements_chain,
      timestamptz '2023-01-02 03:04:05.678901+00' as timestamp, 1::bigint as team_id, null::double as score,
      null::boolean as is_late
    from (values
      ('${eventRows[0].uuid}', '${eventRows[0].event}', 'ada', '${eventRows[0].properties}', 'a:text="Go"'),
      ('${eventRows[1].uuid}', '$pageview', 'ada,"b"', '{"$ip":"1.2.3.4","$set":{"plan":"free"}}', '')
    ) as events(uuid, event, distinct_id, properties, chain)`
  const chunk = await stage(t, csv, select)
  await delivery.deliver(chunk, never)
  await delivery.deliver(chunk, never)
  await delivery.finish([chunk], never)
  await delivery.close()
  const stored = await server.storedEvents({})
  const timestamp = '2023-01-02T03:04:05.678901Z'
  t.same(
    stored.map(({ id, event, distinct_id, properties, elements_chain, timestamp }) => {
      return { id, event, distinct_id, properties, elements_chain, timestamp }
    }),
    [
      {
        id: eventRows[0].uuid,
        event: eventRows[0].event,
        distinct_id: 'ada',
        // The address of the request is what an event without one gets.
        properties: { ...JSON.parse(eventRows[0].properties), $geoip_disable: true, $ip: '127.0.0.1' },
        elements_chain: 'a:text="Go"',
        timestamp,
      },
      {
        id: eventRows[1].uuid,
        event: '$pageview',
        distinct_id: 'ada,"b"',
        properties: { $ip: '1.2.3.4', $set: { plan: 'free' }, $geoip_disable: true },
        elements_chain: '',
        timestamp,
      },
    ],
  )
  t.match((await server.get(`/api/projects/${server.projectId}/events/`)).text, '"n":12345678901234567890')
})

t.test('a batch has what a client would send', async (t) => {
  const { url, received } = await receiver(t, (response) => response.end('{"status":"Ok"}'))
  const delivery = await open(t, url)
  await delivery.deliver(await stage(t, csv), never)
  t.equal(received.length, 1)
  t.match(received[0]?.headers, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
  t.equal(received[0]?.url, '/batch/?x=1')
  t.same(received[0]?.body, {
    api_key: 'phc_open_sesame',
    historical_migration: true,
    batch: [
      {
        uuid: eventRows[0].uuid,
        event: eventRows[0].event,
        distinct_id: 'ada\nlovelace',
        timestamp: '2024-05-01T12:00:00.123456Z',
        properties: {
          ...JSON.parse(eventRows[0].properties),
          $elements_chain: 'a.btn:text="Go"',
          $geoip_disable: true,
        },
      },
      {
        uuid: eventRows[1].uuid,
        event: '$pageview',
        distinct_id: '',
        timestamp: '1969-12-31T23:59:59.000001Z',
        properties: { $geoip_disable: true },
      },
      {
        uuid: eventRows[2].uuid,
        event: 'null',
        distinct_id: 'NULL',
        timestamp: '9999-12-31T23:59:59.999999Z',
        properties: { $ip: '1.2.3.4', $set: { plan: 'free' }, $geoip_disable: true },
      },
    ],
  })
})

t.test('batches keep below a size, and are halved for a receiver that takes less', async (t) => {
  const large = await receiver(t, (response) => response.end())
  await (await open(t, large.url)).deliver(await many(t, 9, 1_000_000), never)
  t.same(
    large.received.map(({ body }) => body.batch.length),
    [4, 4, 1],
  )
  const counts: number[] = []
  const small = await receiver(t, (response, _count, { body }) => {
    counts.push(body.batch.length)
    response.writeHead(body.batch.length > 2 ? 413 : 200).end()
  })
  await (await open(t, small.url)).deliver(await many(t, 5), never)
  t.same(counts, [5, 3, 2, 1, 2])
  const none = await receiver(t, (response) => response.writeHead(413).end())
  await t.rejects((await open(t, none.url)).deliver(await many(t, 2), never), {
    message: 'An event is larger than the server takes. (status 413)',
  })
})

t.test('what passes is tried again, with the pause that is asked for', async (t) => {
  const statuses = [503, 429, 500, 200]
  const { url, received } = await receiver(t, (response, count) => {
    response.writeHead(statuses[count - 1]!, { 'retry-after': '0' }).end('busy')
  })
  await (await open(t, url)).deliver(await stage(t, csv), never)
  t.equal(received.length, 4)
  t.same(received[3]?.body, received[0]?.body)
  const longer = await receiver(t, (response) => response.writeHead(429, { 'retry-after': '3600' }).end())
  await t.rejects((await open(t, longer.url)).deliver(await stage(t, csv), never), {
    message: 'The server asks to be sent less at a time. (status 429)',
  })
  t.equal(longer.received.length, 1, 'an hour is left to the run')
})

t.test('what does not pass is told in a sentence', async (t) => {
  const other = await receiver(t, (response) => response.end())
  const said = async (status: number, headers: http.OutgoingHttpHeaders = {}) => {
    const body = 'token phc_open_sesame'
    const { url, received } = await receiver(t, (response) => response.writeHead(status, headers).end(body))
    const error = await (await open(t, url)).deliver(await stage(t, csv), never).catch((error) => error)
    t.notMatch(everythingOf(error), /sesame/)
    return `${received.length} ${error.kind}: ${error.message}`
  }
  t.match(await said(401), /^1 permanent: The server does not know the token\./)
  t.match(await said(404), /^1 permanent: There is no batch endpoint at the url\./)
  t.match(await said(400), /^1 permanent: The server refuses the events with status 400\.$/)
  t.match(await said(402), /^1 temporary: The receiving project has used up its quota\./)
  t.match(await said(507), /^4 temporary: The server has no room left\. \(status 507\)$/)
  t.match(await said(307, { location: other.url }), /^1 permanent: The server answers with a redirect/)
  t.equal(other.received.length, 0)
})

t.test('a receiver that is not there, is silent or may not be called', async (t) => {
  const chunk = await stage(t, csv)
  const dns = await startDns(t, (type) => (type === 'A' ? ['169.254.169.254'] : []))
  const said = async (url: string, allow: string | null, dnsServers: string | null = null) =>
    await (await open(t, url, allow, dnsServers, hasty))
      .deliver(chunk, never)
      .catch(({ kind, message }) => `${kind}: ${message}`)
  t.equal(
    await said('http://127.0.0.1:9/', '127.0.0.1:9'),
    'temporary: The server could not be reached (ECONNREFUSED).',
  )
  const silent = await receiver(t, () => {})
  t.equal(await said(silent.url, '127.0.0.1'), 'temporary: The server did not answer in time.')
  const privately = 'permanent: The server may not be called: It leads into a private network.'
  t.equal(await said(silent.url, null), privately)
  t.equal(await said('https://metadata.example/', null, dns.address), privately)
  const stopping = new AbortController()
  const delivering = (await open(t, silent.url, undefined, null, hasty)).deliver(chunk, stopping.signal)
  await until(() => silent.received.length === 5)
  stopping.abort(new Error('cancelled'))
  await t.rejects(delivering, { message: 'cancelled' })
})

t.test('what is no event is not sent', async (t) => {
  const { url } = await receiver(t, (response) => response.end())
  const given = config('HTTP', { url, token: 'phc_x' })
  await t.rejects(quick.open(given, { ...subject, model: 'persons' }, outboundFor(t), never), {
    message: 'HTTP takes events, not persons. Change the model or the destination.',
  })
  const chunk = await stage(t, csv)
  await t.rejects((await open(t, url)).deliver({ ...chunk, columns: columns.slice(1, 3) }, never), {
    message:
      "The export's query leaves out uuid, timestamp, properties, which an event needs. Change the query.",
  })
})
