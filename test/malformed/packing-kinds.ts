// Bodies that are packed badly: gzip, base64, lz64 and forms.

import { gzipSync } from 'node:zlib'
import lzString from 'lz-string'
import {
  bad,
  body,
  envelopeText,
  integer,
  type Kind,
  odd,
  pick,
  type Random,
  randomBytes,
  variedEnvelope,
} from './kind.ts'

function hinted(random: Random, content: Uint8Array) {
  return body(random, content, pick(random, ['', '?compression=gzip', '?compression=gzip-js&ver=1']))
}

/** Changes the gzip trailer: the checksum at 0, the size at 4. */
function withTrailer(random: Random, at: 0 | 4): Buffer {
  const bytes = gzipSync(variedEnvelope(random))
  const place = bytes.length - 8 + at
  bytes.writeUInt32LE((bytes.readUInt32LE(place) + 1 + integer(random, 2 ** 31)) >>> 0, place)
  return bytes
}

function form(random: Random, content: string) {
  const sample = body(random, content)
  return { ...sample, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
}

export const packingKinds: readonly Kind[] = [
  bad('gzip that breaks off', /^400$/, (random) => {
    const whole = gzipSync(variedEnvelope(random))
    return hinted(random, whole.subarray(0, 3 + integer(random, whole.length - 3)))
  }),
  bad('gzip with a flipped bit', /^400$/, (random) => {
    const bytes = gzipSync(variedEnvelope(random))
    bytes[10 + integer(random, bytes.length - 20)]! ^= 1 << integer(random, 8)
    return hinted(random, bytes)
  }),
  bad('gzip with a wrong checksum', /^400$/, (random) => hinted(random, withTrailer(random, 0))),
  bad('gzip that lies about its size', /^400$/, (random) => hinted(random, withTrailer(random, 4))),
  bad('gzip followed by rubbish', /^400$/, (random) => {
    const tail = Buffer.concat([Buffer.from([1]), randomBytes(random, 1 + integer(random, 50))])
    return hinted(random, Buffer.concat([gzipSync(variedEnvelope(random)), tail]))
  }),
  bad('gzip in gzip', /^400$/, (random) => hinted(random, gzipSync(gzipSync(variedEnvelope(random))))),
  bad('gzip whose second member breaks off', /^400$/, (random) => {
    const second = gzipSync('   '.repeat(20))
    return hinted(random, Buffer.concat([gzipSync(variedEnvelope(random)), second.subarray(0, 12)]))
  }),
  odd('gzip in two members', 1, (random) => {
    const text = envelopeText('odd')
    const cut = 1 + integer(random, text.length - 1)
    return hinted(random, Buffer.concat([gzipSync(text.slice(0, cut)), gzipSync(text.slice(cut))]))
  }),
  bad('no gzip, called gzip', /^400$/, (random) => {
    const sample = body(random, variedEnvelope(random))
    return { ...sample, headers: { ...sample.headers, 'content-encoding': 'gzip' } }
  }),
  bad('random bytes', /^400$/, (random) => body(random, randomBytes(random, 1 + integer(random, 2000)))),
  bad('lz64 of nothing', /^400$/, (random) =>
    body(random, randomBytes(random, 30 + integer(random, 300)).toString('base64'), '?compression=lz64'),
  ),
  bad('lz64 that breaks off', /^400$/, (random) => {
    const whole = lzString.compressToBase64(variedEnvelope(random)).replaceAll('=', '')
    return body(random, whole.slice(0, integer(random, whole.length - 8)) || 'A', '?compression=lz64')
  }),
  bad('base64 of rubbish', /^400$/, (random) =>
    body(random, randomBytes(random, 40).toString('base64'), '?compression=base64'),
  ),
  bad('base64 that breaks off', /^400$/, (random) => {
    const whole = Buffer.from(variedEnvelope(random)).toString('base64')
    return body(random, whole.slice(0, 4 + integer(random, whole.length - 12)))
  }),
  bad('a form without data', /^400$/, (random) => form(random, pick(random, ['data=', '_=1&ver=2', 'ip=0']))),
  bad('a form of rubbish', /^400$/, (random) =>
    form(random, `data=${pick(random, ['%', '%zz', '%ff%fe', 'e30', '%7B', '%00'])}${integer(random, 1000)}`),
  ),
  bad('JSON called a form', /^400$/, (random) => form(random, variedEnvelope(random))),
]
