import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type OutboundOptions, openOutbound } from '../../src/outbound/outbound.ts'
import { type DnsAnswer, type RecordType, startDns } from '../support/dns.ts'

const privately = { code: 'address_refused', detail: 'It leads into a private network.', attr: 'hook' }

const names: Record<string, DnsAnswer> = {
  'A public.example': ['8.8.8.8'],
  'AAAA public6.example': ['2606:4700::1'],
  'A mixed.example': ['10.0.0.1', '8.8.8.8'],
  'A inside.example': ['10.0.0.1'],
  'A metadata.example': ['169.254.169.254'],
  'AAAA mapped.example': ['::ffff:127.0.0.1'],
  'A half.example': ['8.8.8.8'],
  'AAAA half.example': 'servfail',
  'A broken.example': 'servfail',
  'AAAA broken.example': 'servfail',
  'A host.internal': ['8.8.8.8'],
}

async function open(t: Test, options: Partial<OutboundOptions> = {}) {
  const dns = await startDns(t, (type, name) => names[`${type} ${name}`] ?? 'nxdomain')
  const outbound = openOutbound({ allow: null, dnsServers: dns.address, ...options })
  t.teardown(() => outbound.close())
  return { outbound, dns }
}

t.test('an address is judged by what it leads to before it is saved', async (t) => {
  const { outbound } = await open(t)
  for (const text of ['https://public.example/x', 'https://public6.example', 'http://8.8.8.8:8080']) {
    await outbound.checkUrl(text, 'hook')
  }
  await outbound.checkUrl('https://mixed.example', 'hook')
  await outbound.checkUrl('https://half.example', 'hook')
  const inside = [
    'inside.example',
    'metadata.example',
    'mapped.example',
    'host.internal',
    'printer',
    'nas.local',
  ]
  const spelled = [
    '127.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost.',
    'a.localhost',
  ]
  for (const host of [...inside, ...spelled]) {
    await t.rejects(outbound.checkUrl(`https://${host}/`, 'hook'), privately, host)
  }
  await t.rejects(outbound.checkUrl('https://8.8.8.8:22/', 'hook'), {
    code: 'address_refused',
    detail: 'Port 22 is not called.',
  })
  await t.rejects(outbound.checkUrl('ftp://8.8.8.8/', 'hook'), { code: 'address_refused', attr: 'hook' })
})

t.test('a name that cannot be looked up is saved, and not called', async (t) => {
  const { outbound } = await open(t)
  await outbound.checkUrl('https://nobody.example/', 'hook')
  await outbound.checkUrl('https://broken.example/', 'hook')
  await t.rejects(outbound.addressesOf('nobody.example', 443), {
    code: 'address_unknown',
    detail: 'The name nobody.example could not be looked up.',
  })
  await t.rejects(outbound.addressesOf('broken.example', 443), { code: 'address_unknown' })
})

t.test('a silent name server holds up a save for a limited time', async (t) => {
  const dns = await startDns(t, () => 'silent')
  const outbound = openOutbound({ allow: null, dnsServers: dns.address })
  const startMs = performance.now()
  await outbound.checkUrl('https://public.example/', 'hook')
  const tookMs = performance.now() - startMs
  // Its limit is two seconds; by itself a look-up goes on for twenty and more.
  t.ok(tookMs >= 1_900 && tookMs < 10_000, `${tookMs} ms`)
})

t.test('a host without URL is judged the same way', async (t) => {
  const { outbound } = await open(t)
  await outbound.checkHost('public.example', 5432, 'host')
  await t.rejects(outbound.checkHost('inside.example', 5432, 'host'), {
    code: 'address_refused',
    attr: 'host',
  })
  await t.rejects(outbound.checkHost('/var/run/postgresql', 5432, 'host'), {
    code: 'address_refused',
    detail: 'Enter a valid host.',
  })
  t.same(await outbound.addressesOf('mixed.example', 5432), [{ address: '8.8.8.8', family: 4 }])
})

t.test('the operator opens private addresses, names inside the network included', async (t) => {
  const { outbound } = await open(t, { allow: '10.0.0.0/8, 127.0.0.1:9000' })
  await outbound.checkUrl('https://inside.example/', 'hook')
  await outbound.checkUrl('http://localhost:9000/', 'hook')
  t.same(await outbound.addressesOf('localhost', 9000), [{ address: '127.0.0.1', family: 4 }])
  await t.rejects(outbound.checkUrl('http://localhost:9001/', 'hook'), privately)
  await t.rejects(outbound.checkUrl('http://127.0.0.2:9000/', 'hook'), privately)
})

t.test('a connection goes to the address that was judged, in clear and encrypted', async (t) => {
  const { host, port } = await listen(t)
  let isFlipped = false
  const flip = (type: RecordType): DnsAnswer => {
    if (type !== 'A') return []
    return isFlipped ? ['127.0.0.2'] : [host]
  }
  const dns = await startDns(t, flip)
  const outbound = openOutbound({ allow: `${host}:${port}`, dnsServers: dns.address })
  t.teardown(() => outbound.close())
  const { httpAgent, httpsAgent } = outbound
  await outbound.checkUrl(`http://rebinds.example:${port}/`, 'hook')
  t.same(await get(`http://rebinds.example:${port}/ok`, httpAgent), { status: 302, path: '/ok' })
  await t.rejects(get(`https://rebinds.example:${port}/`, httpsAgent), /wrong version number|EPROTO|socket/i)

  isFlipped = true
  httpAgent.destroy()
  for (const agent of [httpAgent, httpsAgent]) {
    const scheme = agent === httpsAgent ? 'https' : 'http'
    const url = `${scheme}://rebinds.example:${port}/`
    await t.rejects(get(url, agent), { code: 'address_refused' })
    await t.rejects(get(`${scheme}://127.0.0.2:${port}/`, agent), { code: 'address_refused' })
    await t.rejects(get(`${scheme}://${host}:${port + 1}/`, agent), { code: 'address_refused' })
  }
})

t.test('a name is looked up once for a connection', async (t) => {
  const { host, port } = await listen(t)
  const dns = await startDns(t, (type) => (type === 'A' ? [host] : []))
  const outbound = openOutbound({ allow: host, dnsServers: dns.address })
  t.teardown(() => outbound.close())
  await get(`http://once.example:${port}/`, outbound.httpAgent)
  t.same(dns.asked.sort(), ['A once.example', 'AAAA once.example'])
})

t.test('without DNS_SERVERS names are looked up as this machine does', async (t) => {
  const outbound = openOutbound({ allow: null, dnsServers: null })
  await t.rejects(outbound.checkUrl('https://127.0.0.1/', 'hook'), privately)
  await t.rejects(outbound.checkUrl('https://localhost/', 'hook'), privately)
  await outbound.checkUrl('https://8.8.8.8/', 'hook')
  await outbound.checkUrl('https://nobody.invalid/', 'hook')
})

t.test('reads text records, their strings joined', async (t) => {
  const long = 'x'.repeat(300)
  const dns = await startDns(t, (type, name) => {
    if (name === 'broken.example') return 'servfail'
    return type === 'TXT' && name === 'proof.example' ? ['first', long] : 'nxdomain'
  })
  const outbound = openOutbound({ allow: null, dnsServers: dns.address })
  t.same(await outbound.textRecords('proof.example'), ['first', long])
  t.same(await outbound.textRecords('nobody.example'), [])
  await t.rejects(outbound.textRecords('broken.example'), { code: 'address_unknown' })
})

t.test('refuses settings that it cannot read', async (t) => {
  t.throws(() => openOutbound({ allow: 'x', dnsServers: null }), { code: 'config_invalid' })
  t.throws(() => openOutbound({ allow: null, dnsServers: 'dns.example' }), {
    code: 'config_invalid',
    detail:
      'DNS_SERVERS is "dns.example", expected addresses with commas between, each with :port or without',
  })
})

/** A server that sends everybody on to an address nobody may call. */
async function listen(t: Test): Promise<{ host: string; port: number }> {
  const server = http.createServer((request, response) => {
    response.writeHead(302, { location: 'http://127.0.0.2/', 'x-path': request.url ?? '' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  return { host: '127.0.0.1', port }
}

function get(url: string, agent: http.Agent): Promise<{ status: number | undefined; path: unknown }> {
  return new Promise((resolve, reject) => {
    const client = url.startsWith('https:') ? https : http
    const request = client.get(url, { agent }, (response) => {
      response.resume()
      response.once('end', () => resolve({ status: response.statusCode, path: response.headers['x-path'] }))
    })
    request.once('error', reject)
  })
}
