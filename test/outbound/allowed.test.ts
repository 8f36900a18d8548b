import t from 'tap'
import { readAllowed } from '../../src/outbound/allowed.ts'

t.test('allows nothing unless something is named', async (t) => {
  for (const text of [null, '', ' , ']) t.equal(readAllowed(text)('10.0.0.1', 443), false)
})

t.test('allows a network at every port, or at the one that is named', async (t) => {
  const isAllowed = readAllowed('10.0.0.0/8, 127.0.0.1:9000,192.168.1.0/24:5432, [fd00::/8]:8080, ::1')
  const cases: [address: string, port: number, expected: boolean][] = [
    ['10.255.0.1', 22, true],
    ['11.0.0.1', 443, false],
    ['127.0.0.1', 9000, true],
    ['127.0.0.1', 9001, false],
    ['127.0.0.2', 9000, false],
    ['192.168.1.255', 5432, true],
    ['192.168.2.0', 5432, false],
    ['fd12::1', 8080, true],
    ['fd12::1', 80, false],
    ['::1', 80, true],
    ['::2', 80, false],
    ['::ffff:10.0.0.1', 80, true],
    ['not an address', 80, false],
  ]
  for (const [address, port, expected] of cases)
    t.equal(isAllowed(address, port), expected, `${address} ${port}`)
})

t.test('refuses an entry that it cannot read, and names it', async (t) => {
  for (const entry of [
    '10.0.0.0/33',
    'minio.local',
    '10.0.0.1:70000',
    'fd00::/8/1',
    '[10.0.0.1',
    '10.1',
    '::1:x',
  ]) {
    t.throws(() => readAllowed(`127.0.0.1,${entry}`), {
      code: 'config_invalid',
      detail:
        `OUTBOUND_ALLOW holds ${JSON.stringify(entry)}, expected addresses or CIDRs with commas between, ` +
        'each with :port or without, IPv6 with a port in brackets',
    })
  }
})
