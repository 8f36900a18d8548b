// Requests that are broken as HTTP: lengths that lie, chunks that do not add up, heads that are none.

import {
  bad,
  envelopeText,
  integer,
  type Kind,
  pick,
  type Random,
  randomBytes,
  type WireSample,
} from './kind.ts'

/** Refused, or the connection is ended. */
const refused = /^(4\d\d|closed)$/
/** The same for what does not even say HTTP/1.1. */
const notHttp = /^(4\d\d|505|closed)$/
const content = envelopeText('broken')

function wire(bytes: string | Buffer, then: WireSample['then'] = 'wait'): WireSample {
  return { kind: 'wire', bytes: Buffer.from(bytes), then }
}

/** A request with the given header lines, sound but for them. */
function post(
  random: Random,
  lines: readonly string[],
  payload: string,
  then: WireSample['then'] = 'wait',
): WireSample {
  const path = pick(random, ['/e/', '/batch', '/capture/'])
  const head = [`POST ${path} HTTP/1.1`, 'Host: spate', 'Content-Type: application/json', ...lines]
  return wire(`${head.join('\r\n')}\r\n\r\n${payload}`, then)
}

const chunked = 'Transfer-Encoding: chunked'

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

/** Lengths that are none; the empty one may count as no body. */
const wrongLengths = [
  '-5',
  '+5',
  '0x10',
  '5, 6',
  '5;',
  '1e3',
  'five',
  '18446744073709551616',
  '9'.repeat(40),
  '',
]

const brokenChunks = [
  `zz\r\n${content}\r\n0\r\n\r\n`,
  `-5\r\n${content}\r\n0\r\n\r\n`,
  `ffffffffffffffffff\r\n${content}\r\n0\r\n\r\n`,
  `\r\n${content}\r\n0\r\n\r\n`,
  `${(content.length - 3).toString(16)}\r\n${content}\r\n0\r\n\r\n`,
]

const brokenHeads = [
  'hello\r\n\r\n',
  'GET\r\n\r\n',
  'POST /e/ HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', // no Host
  'POST /e/ HTTP/9.9\r\nHost: spate\r\n\r\n',
  'POST /e/ HTTP/1.1\r\nHost: spate\r\nno colon here\r\n\r\n',
  'POST /e/ HTTP/1.1\r\nHost: spate\r\nX: a\0b\r\nContent-Length: 2\r\n\r\n{}',
  'POST /e/ HTTP/1.1\r\nHost: spate\r\nX: a\r\n folded: b\r\nContent-Length: 2\r\n\r\n{}',
  'POST /e/ HTTP/1.1\r\nHost: spate\r\nContent-Length : 2\r\n\r\n{}',
  'POST /e/ HTTP/1.1\nHost: spate\nContent-Length: 2\n\n{}',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `POST /e/ HTTP/1.1\r\nHost: spate\r\nX: ${'a'.repeat(80_000)}\r\n\r\n`,
  `POST /e/ HTTP/1.1\r\nHost: spate\r\n${'X: a\r\n'.repeat(150)}\r\n`,
  `POST /e/?${'a'.repeat(80_000)} HTTP/1.1\r\nHost: spate\r\n\r\n`,
]

export const wireKinds: readonly Kind[] = [
  bad('a length shorter than the body', /^400$/, (random) =>
    post(random, [`Content-Length: ${1 + integer(random, content.length - 1)}`], content),
  ),
  bad('a length longer than the body, then the end', refused, (random) =>
    post(random, [`Content-Length: ${content.length + 1 + integer(random, 10_000)}`], content, 'end'),
  ),
  bad('a connection reset in the middle of a body', refused, (random) =>
    post(random, [`Content-Length: ${content.length + 1 + integer(random, 10_000)}`], content, 'reset'),
  ),
  bad('a length that is none', refused, (random) =>
    post(random, [`Content-Length: ${pick(random, wrongLengths)}`], content, 'end'),
  ),
  bad('two different lengths', refused, (random) => {
    const lengths = [
      `Content-Length: ${content.length}`,
      `Content-Length: ${integer(random, content.length)}`,
    ]
    return post(random, random() < 0.5 ? lengths : lengths.reverse(), content, 'end')
  }),
  bad('a length over the limit, announced', /^(413|closed)$/, (random) =>
    post(random, [`Content-Length: ${21 * 2 ** 20 + integer(random, 2 ** 40)}`], content, 'end'),
  ),
  bad('a length and chunks', refused, (random) => {
    const lines = [`Content-Length: ${content.length}`, chunked]
    return post(random, random() < 0.5 ? lines : lines.reverse(), `${chunk(content)}0\r\n\r\n`, 'end')
  }),
  bad('a transfer encoding nobody knows', refused, (random) => {
    const coding = pick(random, [
      'xchunked',
      'chunked, gzip',
      'gzip, chunked',
      'identity',
      'chunkedx',
      '"chunked"',
    ])
    return post(random, [`Transfer-Encoding: ${coding}`], `${chunk(content)}0\r\n\r\n`, 'end')
  }),
  bad('chunks that do not add up', refused, (random) =>
    post(random, [chunked], pick(random, brokenChunks), 'end'),
  ),
  bad('chunks that break off', refused, (random) => {
    const whole = `${chunk(content)}0\r\n\r\n`
    return post(random, [chunked], whole.slice(0, 1 + integer(random, whole.length - 6)), 'end')
  }),
  bad('a head that is none', notHttp, (random) => wire(pick(random, brokenHeads), 'end')),
  bad('random bytes on the wire', notHttp, (random) =>
    wire(randomBytes(random, 1 + integer(random, 3000)), 'end'),
  ),
  bad('a TLS hello', notHttp, (random) => {
    const hello = Buffer.concat([
      Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]),
      randomBytes(random, 500),
    ])
    return wire(hello, 'end')
  }),
]
