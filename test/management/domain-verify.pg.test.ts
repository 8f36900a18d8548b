import t, { type Test } from 'tap'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { ids, jsonOf, openWorld, validationError } from '../api/world.ts'
import { type DnsAnswer, startDns } from '../support/dns.ts'

const path = `/api/organizations/${ids.ours}/domains/`

async function makeDomain(t: Test) {
  const dns = { says: 'nxdomain' as DnsAnswer, onAsked: (): Promise<unknown> | null => null }
  const server = await startDns(t, (type, name) => {
    if (type !== 'TXT' || name !== '_posthog-challenge.example.com') return 'nxdomain'
    return dns.says
  })
  const outbound = openOutbound({ allow: null, dnsServers: server.address })
  const world = await openWorld(t, {
    outbound: {
      ...outbound,
      async textRecords(name) {
        await dns.onAsked()
        return outbound.textRecords(name)
      },
    },
  })
  const { id, verification_challenge } = jsonOf(await world.send('POST', path, { domain: 'example.com' }))
  const ask = () => world.send('POST', `${path}${id}/verify/`, '', 'phx_administrator')
  const read = async () => jsonOf(await world.get(path + id))
  return { world, dns, server, id: id as string, challenge: verification_challenge as string, ask, read }
}

t.test('a record that says the challenge proves the domain', async (t) => {
  const { world, dns, server, id, challenge, ask, read } = await makeDomain(t)
  dns.says = ['v=spf1 -all', challenge]
  world.clock.ms += 1000
  t.match(await ask(), { status: 200, text: '' })
  t.match(await read(), { is_verified: true, verified_at: '2024-05-01T12:00:01Z' })
  t.same(server.asked, ['TXT _posthog-challenge.example.com'])
  t.match(jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/`)).results[0], {
    activity: 'verified',
    item_id: id,
    detail: { changes: [{ field: 'is_verified', before: false, after: true }] },
  })
  t.match(await ask(), validationError('already_verified', 'This domain has already been verified.', null))
})

t.test(
  'no name, no record, another text, a broken name server: still to be proved, and no error',
  async (t) => {
    const { world, dns, id, challenge, ask, read } = await makeDomain(t)
    for (const says of [
      'nxdomain',
      [],
      ['another'],
      [`${challenge}x`],
      [challenge.toLowerCase()],
      'servfail',
    ] as const) {
      dns.says = says
      t.match(await ask(), { status: 200, text: '' })
      t.match(await read(), { is_verified: false, verified_at: null })
    }
    const { rows } = await world.postgres.query(
      'select last_verification_retry from organization_domain where id = $1',
      [id],
    )
    t.same(rows, [{ last_verification_retry: '2024-05-01T12:00:00Z' }])
  },
)

t.test('a silent name server holds the request for a limited time', async (t) => {
  const { dns, ask, read } = await makeDomain(t)
  dns.says = 'silent'
  const startMs = performance.now()
  t.match(await ask(), { status: 200 })
  t.ok(performance.now() - startMs < 15_000)
  t.match(await read(), { is_verified: false })
})

t.test('what was proved of a name counts for that name only', async (t) => {
  const { world, dns, id, challenge, ask, read } = await makeDomain(t)
  dns.says = [challenge]
  dns.onAsked = () => world.send('PATCH', path + id, { domain: 'victim.example' })
  t.match(await ask(), { status: 200 })
  t.match(await read(), { domain: 'victim.example', is_verified: false })
})

t.test('only what is there can be proved, and a body is not looked at', async (t) => {
  const { world, dns, id, challenge } = await makeDomain(t)
  t.equal((await world.send('POST', `${path}${ids.nobodys}/verify/`, {})).status, 404)
  t.equal((await world.send('POST', `${path}no-uuid/verify/`, {})).status, 404)
  dns.says = [challenge]
  t.equal((await world.send('POST', `${path}${id}/verify/`, { domain: 7 })).status, 200)
})
