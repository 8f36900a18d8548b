// Requests that are meant to cost more than they should: few, and large.

import { gzipSync } from 'node:zlib'
import { gzipBomb, lz64Bomb } from '../support/bombs.ts'
import { bad, body, envelopeText, type Kind, odd } from './kind.ts'

const MiB = 1024 * 1024
const million = 1_000_000

function repeated(count: number, of: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => of(n)).join(',')
}

function crowd(badIndex: number): string {
  const events = repeated(10_000, (n) =>
    n === badIndex ? '{"event":"broken"}' : `{"event":"odd","distinct_id":"crowd ${n}"}`,
  )
  return `{"api_key":"phc_test_project","batch":[${events}]}`
}

export const heavyKinds: readonly Kind[] = [
  bad('gzip of 4 GB of zeros', /^413$/, (random) => body(random, gzipBomb(4096 * MiB)), 3),
  bad('lz64 of 5 GB', /^413$/, (random) => body(random, lz64Bomb(100_000), '?compression=lz64'), 3),
  bad('20 MB of {}', /^400$/, (random) => body(random, '{}'.repeat(10 * million)), 2),
  bad(
    '6 million empty objects',
    /^401$/,
    (random) => body(random, `[${repeated(6 * million, () => '{}')}]`),
    2,
  ),
  odd(
    '6 million empty objects in a batch',
    0,
    (random) => body(random, `{"api_key":"phc_test_project","batch":[${repeated(6 * million, () => '{}')}]}`),
    2,
  ),
  bad('nesting of 10 million', /^400$/, (random) => body(random, '['.repeat(10 * million)), 2),
  odd(
    'nesting of a million, closed',
    0,
    (random) => body(random, envelopeText('broken', `{"a":${'['.repeat(million)}${']'.repeat(million)}}`)),
    2,
  ),
  odd(
    'a million keys',
    1,
    (random) => body(random, envelopeText('odd', `{${repeated(million, (n) => `"key ${n}":${n}`)}}`)),
    2,
  ),
  odd(
    'a million keys that are integers',
    1,
    (random) => body(random, envelopeText('odd', `{${repeated(million, (n) => `"${n * 65_536}":1`)}}`)),
    2,
  ),
  odd('a key of 1 MB', 1, (random) => body(random, envelopeText('odd', `{"${'k'.repeat(million)}":1}`)), 2),
  odd(
    'a distinct_id of 10 MB',
    1,
    (random) => body(random, envelopeText('odd', '{}', `"distinct_id":"${'i'.repeat(10 * million)}",`)),
    2,
  ),
  odd(
    'a text of 150 MB, packed',
    0,
    (random) =>
      body(random, gzipSync(envelopeText('broken', `{"text":"${'x'.repeat(150 * million)}"}`), { level: 1 })),
    1,
  ),
  odd('one bad event among 10,000', 9999, (random) => body(random, crowd(5000)), 3),
  bad('21 MiB', /^413$/, (random) => body(random, Buffer.alloc(21 * MiB, ' ')), 3),
]
