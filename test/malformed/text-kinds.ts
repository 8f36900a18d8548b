// Bodies that are no JSON, and bodies that are JSON of the strangest kind.

import {
  bad,
  body,
  envelopeText,
  integer,
  type Kind,
  odd,
  pick,
  randomBytes,
  variedEnvelope,
} from './kind.ts'

const notJson = [
  'NaN',
  'Infinity',
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  '0x10',
  "'a'",
  '"\\x41"',
  '"\\u12G4"',
  '"\\u12',
  '"a\nb"',
  '"a\0b"',
  '"open',
  '[1,]',
  '[1 2]',
  '{"a" 1}',
  '{"a":}',
  '{a:1}',
  '{"a":1,}',
  'undefined',
  'tru',
  '/* */ 1',
]

const prototypeKeys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype']

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

export const textKinds: readonly Kind[] = [
  bad('JSON that breaks off', /^400$/, (random) => {
    const text = variedEnvelope(random)
    return body(random, text.slice(0, 1 + integer(random, text.length - 1)))
  }),
  bad('a value that is no JSON', /^400$/, (random) =>
    body(random, envelopeText('broken', `{"a":${pick(random, notJson)},"n":${integer(random, 1000)}}`)),
  ),
  bad('text after the end', /^400$/, (random) =>
    body(random, variedEnvelope(random) + pick(random, ['}', ']', ',', '{}', 'x', '\0', '"'])),
  ),
  bad('bytes that are not UTF-8', /^400$/, (random) => {
    const text = envelopeText('broken', '{"text":"????"}')
    const bytes = Buffer.from(text)
    const wrong = pick(random, [
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82],
    ])
    bytes.set(wrong, text.indexOf('????'))
    return body(random, bytes)
  }),
  bad('UTF-16', /^400$/, (random) => body(random, Buffer.from(`\ufeff${variedEnvelope(random)}`, 'utf16le'))),
  odd('a byte order mark', 1, (random) => body(random, `\ufeff${envelopeText('odd')}`)),
  bad('a key of another type', /^401$/, (random) => {
    const key = pick(random, ['1', 'null', '{}', '[]', 'true', '1e400'])
    return body(random, `{"api_key":${key},"batch":[{"event":"broken","distinct_id":"d"}]}`)
  }),
  bad('a batch that is no array', /^400$/, (random) => {
    const batch = pick(random, ['{}', '1', '"text"', 'true'])
    return body(random, `{"api_key":"phc_test_project","batch":${batch}}`)
  }),
  bad('nesting around the events', /^40[01]$/, (random) => body(random, nested(3 + integer(random, 5000)))),
  bad('nesting that never closes', /^400$/, (random) =>
    body(random, envelopeText('broken', '[{"a":'.repeat(2 + integer(random, 5000)))),
  ),
  odd('nesting deeper than 128, an event to drop', 0, (random) =>
    body(random, envelopeText('broken', `{"deep":${nested(pick(random, [129, 200, 1000, 10_000]))}}`)),
  ),
  odd('nesting of 100', 1, (random) => body(random, envelopeText('odd', `{"deep":${nested(100)}}`))),
  odd('elements that are no events', 0, (random) => {
    const element = pick(random, ['1', 'null', '"text"', '[]', '{}', '[[]]', '{"event":"broken"}', '-0'])
    const batch = Array.from({ length: 1 + integer(random, 50) }, () => element)
    return body(random, `{"api_key":"phc_test_project","batch":[${batch}]}`)
  }),
  odd('properties of another type', 0, (random) =>
    body(random, envelopeText('broken', pick(random, ['[]', '1', '"text"', 'true', '[{}]']))),
  ),
  odd("names of JavaScript's own", 1, (random) => {
    const key = pick(random, prototypeKeys)
    const value = pick(random, ['{"polluted":true}', 'null', '1', '"text"'])
    const sets = `"$set":{"${key}":${value}},"$set_once":{"${key}":${value}},`
    return body(random, envelopeText('odd', `{"${key}":${value},"$set":{"${key}":{"polluted":1}}}`, sets))
  }),
  odd('NUL and lone surrogates', 1, (random) => {
    const text = pick(random, ['a\\u0000b', '\\ud800', '\\udc00\\ud800', '\\uD83D', 'x\\udfffy'])
    return body(random, envelopeText('odd', `{"${text}":"${text}","$set":{"${text}":["${text}"]}}`))
  }),
  odd('numbers beyond a double', 1, (random) =>
    body(random, envelopeText('odd', `{"n":[1e400,-1e400,1e-400,${'9'.repeat(1 + integer(random, 2000))}]}`)),
  ),
  odd('a key that comes many times', 1, (random) => {
    const members = Array.from({ length: 2 + integer(random, 500) }, (_, n) => `"a":${n}`)
    return body(random, envelopeText('odd', `{${members}}`, '"event":"odd","distinct_id":"again",'))
  }),
  odd('many keys that are integers', 1, (random) => {
    const step = 1 + integer(random, 2 ** 20)
    const members = Array.from({ length: 1000 }, (_, n) => `"${n * step}":${n}`)
    return body(random, envelopeText('odd', `{${members}}`))
  }),
  odd('a huge distinct_id', 1, (random) => {
    const id = randomBytes(random, 1000)
      .toString('hex')
      .repeat(1 + integer(random, 100))
    return body(random, envelopeText('odd', '{}', `"distinct_id":"${id}",`))
  }),
]
