import t from 'tap'
import { formatAddress, senderOf } from '../../src/http/address.ts'

const cases: [hex: string, text: string][] = [
  ['7f000001', '127.0.0.1'],
  ['00000000000000000000ffffc0a80001', '192.168.0.1'],
  ['00000000000000000000000000000001', '::1'],
  ['00000000000000000000000000000000', '::'],
  ['20010db8000000000001000000000001', '2001:db8::1:0:0:1'],
  ['fe800000000000000001000200030004', 'fe80::1:2:3:4'],
  ['00010002000300040005000600000000', '1:2:3:4:5:6::'],
  ['00010000000200000003000000040000', '1:0:2:0:3:0:4:0'],
  ['', ''],
]

for (const [hex, text] of cases) {
  t.test(`prints ${hex || 'nothing'} as ${text || 'nothing'}`, async (t) => {
    t.equal(formatAddress(Buffer.from(hex, 'hex')), text)
  })
}

const senders: [address: string, sender: string][] = [
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
]

for (const [address, sender] of senders) {
  t.test(`counts ${address} as ${sender}`, async (t) => {
    t.equal(senderOf(address), sender)
  })
}
