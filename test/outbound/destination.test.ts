import t from 'tap'
import { destinationOf, isOpenPort, readUrl } from '../../src/outbound/destination.ts'

t.test('reads the host that a connection would go to, however it is spelled', async (t) => {
  const spellings: Record<string, readonly string[]> = {
    '127.0.0.1': [
      'http://127.0.0.1/',
      'http://0177.0.0.1',
      'http://2130706433',
      'http://0x7f000001',
      'http://0x7F.1',
      'http://127.1',
      'http://127.0.0.1.',
      'http://①②⑦.⓪.⓪.①',
      'http://127。0。0。1',
      'http://%31%32%37.0.0.1',
      'HTTP://127.0.0.1#@example.com',
      'http://127.0.0.1?@example.com',
      'http:127.0.0.1',
    ],
    '::ffff:7f00:1': ['http://[::ffff:127.0.0.1]', 'http://[0:0:0:0:0:FFFF:7F00:1]/'],
    localhost: [
      'http://localhost',
      'http://LOCALHOST.',
      'http://localhost..',
      'http://ⓛocalhost',
      'http://loc\u00adalhost',
    ],
    'example.com': ['https://example.com', 'https://EXAMPLE.com./x', 'https://ｅxample.com'],
    'xn--mnchen-3ya.example': ['https://münchen.example'],
  }
  for (const [host, texts] of Object.entries(spellings)) {
    for (const text of texts) t.match(readUrl(text), { kind: 'url', destination: { host } }, text)
  }
})

t.test('refuses what is no plain address of the web', async (t) => {
  const cases: Record<string, string> = {
    'ftp://example.com/': 'Only http:// and https:// are spoken.',
    'file:///etc/passwd': 'Only http:// and https:// are spoken.',
    'gopher://example.com:70/': 'Only http:// and https:// are spoken.',
    'javascript:alert(1)': 'Only http:// and https:// are spoken.',
    'https://user@example.com/': 'It holds a user name or a password.',
    'https://user:word@example.com/': 'It holds a user name or a password.',
    'https://:word@example.com/': 'It holds a user name or a password.',
    'https://example.com\\@127.0.0.1/': 'It holds spaces, control characters or backslashes.',
    'https://example.com%5c@127.0.0.1/': 'It holds spaces, control characters or backslashes.',
    'https://example.com/ x': 'It holds spaces, control characters or backslashes.',
    'https://example.com/\r\nHost: x': 'It holds spaces, control characters or backslashes.',
    'https://exam\tple.com/': 'It holds spaces, control characters or backslashes.',
    'https://example.com/\0': 'It holds spaces, control characters or backslashes.',
    example: 'Enter a valid URL.',
    '//example.com/': 'Enter a valid URL.',
    'https://': 'Enter a valid URL.',
    'https://[::1': 'Enter a valid URL.',
    'https://./': 'Enter a valid URL.',
    'https://256.0.0.1/': 'Enter a valid URL.',
    'https://exa%2fmple.com/': 'Enter a valid URL.',
    'https://example.com:65536/': 'Enter a valid URL.',
    'https://[fe80::1%25lo]/': 'Enter a valid URL.',
    [`https://example.com/${'x'.repeat(2029)}`]: 'It is longer than 2048 characters.',
  }
  for (const [text, reason] of Object.entries(cases)) t.same(readUrl(text), { kind: 'refused', reason }, text)
  t.equal(readUrl(`https://example.com/${'x'.repeat(2028)}`).kind, 'url')
})

t.test('knows the port of a scheme', async (t) => {
  t.match(readUrl('http://example.com/'), { destination: { port: 80 } })
  t.match(readUrl('https://example.com/'), { destination: { port: 443 } })
  t.match(readUrl('https://example.com:8443/'), { destination: { port: 8443 } })
})

t.test('knows the names that exist only inside networks', async (t) => {
  const internal = [
    'localhost',
    'a.localhost',
    'printer',
    'metadata.google.internal',
    'nas.local',
    'db.corp',
    'x.home.arpa',
  ]
  for (const host of internal) t.match(destinationOf(host, 443), { isInternal: true }, host)
  for (const host of ['example.com', 'local.example.com', 'internal.io', '10.0.0.1', '::1']) {
    t.match(destinationOf(host, 443), { isInternal: false }, host)
  }
})

t.test('takes a host without URL, and nothing that would make one of it', async (t) => {
  t.same(destinationOf('DB.Example.com.', 5432), { host: 'db.example.com', port: 5432, isInternal: false })
  t.same(destinationOf('[::1]', 5432), { host: '::1', port: 5432, isInternal: false })
  t.same(destinationOf('::1', 5432), { host: '::1', port: 5432, isInternal: false })
  t.same(destinationOf('0x7f.1', 5432), { host: '127.0.0.1', port: 5432, isInternal: false })
  for (const host of [
    '',
    '.',
    'a/b',
    'a?b',
    'a#b',
    'u@h',
    'a b',
    '/var/run/x',
    'h:1',
    '%00',
    'a'.repeat(254),
  ]) {
    t.equal(destinationOf(host, 5432), null, host)
  }
})

t.test('opens the ports of the web and those above the well-known ones', async (t) => {
  for (const port of [80, 443, 1024, 5432, 8080, 9000, 65_535]) t.equal(isOpenPort(port), true, `${port}`)
  for (const port of [0, 22, 25, 53, 79, 81, 444, 1023, 6379, 6667, 11211, 65_536]) {
    t.equal(isOpenPort(port), false, `${port}`)
  }
})
