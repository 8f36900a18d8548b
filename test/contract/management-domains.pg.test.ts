// Domains over HTTP, answer by answer: status and body as a client gets them.

import t from 'tap'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { ids, jsonOf, openWorld } from '../api/world.ts'
import { type DnsAnswer, startDns } from '../support/dns.ts'
import { askerOf, forbidden, insufficient, invalid, notFound } from './answers.ts'

let says: DnsAnswer = 'nxdomain'
const dns = await startDns(t, () => says)
const world = await openWorld(t, { outbound: openOutbound({ allow: null, dnsServers: dns.address }) })
const { get, send, remove } = askerOf(world)
const list = `/api/organizations/${ids.ours}/domains/`
const theirs = `/api/organizations/${ids.theirs}/domains/`

interface Domain {
  readonly id: string
  readonly verification_challenge: string
}

const fresh = {
  is_verified: false,
  verified_at: null,
  jit_provisioning_enabled: false,
  sso_enforcement: '',
  has_saml: false,
  saml_entity_id: null,
  saml_acs_url: null,
  saml_x509_cert: null,
}

const make = async (domain: string, path = list, key = 'phx_owner'): Promise<Domain> =>
  jsonOf(await world.send('POST', path, { domain }, key))

const ours = await make('ours.example')
const foreign = await make('theirs.example', theirs, 'phx_stranger')
const item = `${list}${ours.id}/`
const now = async (): Promise<object> => jsonOf(await world.get(item))

t.test('a new one is not verified, whatever is said of it, and waits for its challenge', async (t) => {
  const [status, body] = await send('POST', list, {
    domain: 'the.posthog.com',
    verified_at: '2021-08-08T00:00:00Z',
    verification_challenge: '123',
    jit_provisioning_enabled: true,
    sso_enforcement: 'saml',
  })
  // The domain.
  const { id, verification_challenge } = body as Domain
  t.match([id, verification_challenge], [/^018f3406-9e00-7[0-9a-f]{3}-/, /^[\w-]{43}$/])
  t.strictSame([status, body], [201, { ...fresh, id, domain: 'the.posthog.com', verification_challenge }])
  t.strictSame(await get(`${list}${id}/`), [200, body])
  t.strictSame(await remove(`${list}${id}/`, 'phx_administrator'), [204, ''])
  t.strictSame(await get(`${list}${id}/`), notFound)
})

t.test("the list has the organization's own, and so has each path", async (t) => {
  const { id, verification_challenge } = ours
  const row = { ...fresh, id, domain: 'ours.example', verification_challenge }
  t.strictSame(await get(list), [200, { count: 1, next: null, previous: null, results: [row] }])
  t.strictSame(await get(item), [200, row])
  t.strictSame(await get(`/api/organizations/@current/domains/${foreign.id}/`), notFound)
  t.strictSame(await get(`${theirs}${foreign.id}/`), forbidden)
  t.strictSame(await get(theirs), forbidden)
})

t.test('a name is one domain, of one organization', async (t) => {
  t.strictSame(
    await send('POST', list, { domain: 'theirs.example' }),
    invalid('unique', 'domain with this domain already exists.', 'domain'),
  )
  for (const domain of ['test@posthog.com', 'one.two.c', '--alpha.com']) {
    t.strictSame(
      await send('POST', list, { domain }),
      invalid('invalid_input', 'Please enter a valid domain or subdomain name.', 'domain'),
    )
  }
  t.strictSame(await send('POST', list, {}), invalid('required', 'This field is required.', 'domain'))
})

t.test('members look, administrators act', async (t) => {
  t.strictSame(await send('POST', list, { domain: 'x.example' }, 'phx_member'), insufficient)
  t.strictSame(await send('PATCH', item, { domain: 'x.example' }, 'phx_member'), insufficient)
  t.strictSame(await send('POST', `${item}verify/`, {}, 'phx_member'), insufficient)
  t.strictSame(await remove(item, 'phx_member'), insufficient)
  t.equal(dns.asked.length, 0)
})

t.test('no name, no record and another text verify nothing; the challenge does, once', async (t) => {
  const before = await now()
  for (const nothing of ['nxdomain', [], ['another']] as const) {
    says = nothing
    t.strictSame(await send('POST', `${item}verify/`, {}, 'phx_administrator'), [200, ''])
    t.strictSame(await now(), before)
  }
  says = [ours.verification_challenge]
  t.strictSame(await send('POST', `${item}verify/`, {}, 'phx_administrator'), [200, ''])
  const verified = { ...before, is_verified: true, verified_at: '2024-05-01T12:00:00Z' }
  t.strictSame(await get(item), [200, verified])
  t.strictSame(
    await send('POST', `${item}verify/`, {}, 'phx_administrator'),
    invalid('already_verified', 'This domain has already been verified.', null),
  )
  const sso = { sso_enforcement: 'google-oauth2', jit_provisioning_enabled: true }
  t.strictSame(await send('PATCH', item, sso, 'phx_administrator'), [200, { ...verified, ...sso }])
})

t.test('it has SAML when all three fields of it are set', async (t) => {
  const before = await now()
  const two = { saml_entity_id: 'entity', saml_acs_url: 'https://idp.example/acs' }
  t.strictSame(await send('PATCH', item, two), [200, { ...before, ...two }])
  t.strictSame(await send('PATCH', item, { saml_x509_cert: 'MIIcert' }), [
    200,
    { ...before, ...two, saml_x509_cert: 'MIIcert', has_saml: true },
  ])
})
