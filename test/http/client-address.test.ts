import t from 'tap'
import { clientAddressFinder } from '../../src/http/client-address.ts'
import type { HttpRequest } from '../../src/http/route.ts'
import { requestOf } from '../support/http-request.ts'

function from(peerAddress: string, forwarded: string): HttpRequest {
  return requestOf({ peerAddress, headers: { 'x-forwarded-for': forwarded } })
}

t.test('without trusted proxies the socket counts, whatever the header says', async (t) => {
  const addressOf = clientAddressFinder(null)
  t.equal(addressOf(from('203.0.113.9', '1.2.3.4')), '203.0.113.9')
})

t.test('takes the right-most address that is not a trusted proxy', async (t) => {
  const addressOf = clientAddressFinder('10.0.0.0/8, 192.0.2.7, fd00::/8')
  t.equal(addressOf(from('10.1.1.1', '6.6.6.6, 1.2.3.4, 192.0.2.7')), '1.2.3.4')
  t.equal(addressOf(from('fd00::1', '2001:db8::5')), '2001:db8::5')
  t.equal(addressOf(from('10.1.1.1', '')), '10.1.1.1')
  t.equal(addressOf(from('10.1.1.1', '1.2.3.4, not an address')), '10.1.1.1')
  t.equal(addressOf(from('203.0.113.9', '1.2.3.4')), '203.0.113.9')
})

for (const entry of ['10.0.0.0/33', 'proxy.example', '10.0.0.0/8/8', '10.0.0.0/x']) {
  t.test(`refuses ${entry}`, async (t) => {
    t.throws(() => clientAddressFinder(`127.0.0.1,${entry}`), { code: 'config_invalid' })
  })
}
