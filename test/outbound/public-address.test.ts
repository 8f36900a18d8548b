import t from 'tap'
import { isPublicAddress, parseAddress } from '../../src/outbound/public-address.ts'

const publicAddresses = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.0',
  '100.63.255.255',
  '100.128.0.0',
]
const publicOverSix = ['2606:4700::1111', '2a00:1450:4001::', '::ffff:8.8.8.8', '64:ff9b::808:808']

const kept: Record<string, readonly string[]> = {
  'this machine': ['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '::1', '::'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fd12::1'],
  'the link': ['169.254.1.1', 'fe80::1', 'fe80::1%lo', 'fec0::1'],
  'shared space': ['100.64.0.1', '100.127.255.255'],
  'metadata of clouds': [
    '169.254.169.254',
    'fd00:ec2::254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
  ],
  'many machines at once': ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  'nobody in particular': [
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '192.88.99.1',
  ],
  'nobody over IPv6': [
    '2001:db8::1',
    '100::1',
    '3fff::1',
    '5f00::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
  ],
  'IPv4 in IPv6': [
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::7f00:1',
    '::ffff:0:7f00:1',
    '64:ff9b::a9fe:a9fe',
  ],
  tunnels: ['64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:808:808::', '2001:0:7f00:1::'],
}

t.test('tells the internet from everything else', async (t) => {
  for (const text of [...publicAddresses, ...publicOverSix]) t.equal(isPublic(text), true, text)
  for (const [place, texts] of Object.entries(kept)) {
    for (const text of texts) t.equal(isPublic(text), false, `${place}: ${text}`)
  }
})

t.test('reads only the spellings that every program reads alike', async (t) => {
  for (const text of [
    '0177.0.0.1',
    '2130706433',
    '0x7f.0.0.1',
    '127.1',
    '127.0.0.1.',
    '',
    'localhost',
    '1.2.3.256',
  ]) {
    t.equal(parseAddress(text), null, text)
  }
})

function isPublic(text: string): boolean | null {
  const address = parseAddress(text)
  return address === null ? null : isPublicAddress(address)
}
