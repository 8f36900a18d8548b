import t from 'tap'
import {
  formatUuid,
  makeUuidV7,
  parseUuid,
  parseUuidText,
  writeBornId,
  writeUuidV7,
} from '../../src/lib/uuid.ts'

t.test('makes ids that begin with their time', async (t) => {
  t.match(makeUuidV7(1_714_564_800_000), /^018f3406-9e00-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.not(makeUuidV7(0), makeUuidV7(0))
})

t.test('ids of one millisecond sort in the order in which they were made', async (t) => {
  const ids = Array.from({ length: 300 }, () => makeUuidV7(1_714_564_800_001))
  t.same(ids.toSorted(), ids)
})

const canonical = '6931a681-6e90-500d-8294-14582dcc2e3f'

function roundTrip(text: string): string | null {
  const target = new Uint8Array(20)
  return parseUuidText(text, target, 3) ? formatUuid(target, 3) : null
}

t.test('reads every spelling that the public API takes for a uuid', async (t) => {
  t.equal(roundTrip(canonical), canonical)
  t.equal(roundTrip(canonical.toUpperCase()), canonical)
  t.equal(roundTrip('6931a6816e90500d829414582dcc2e3f'), canonical)
  t.equal(roundTrip(`{${canonical}}`), canonical)
  t.equal(roundTrip(`urn:uuid:${canonical}`), canonical)
  t.equal(roundTrip('00000000-0000-0000-0000-000000000000'), '00000000-0000-0000-0000-000000000000')
})

t.test('refuses what only resembles a uuid', async (t) => {
  const bad = [
    '',
    'not-a-uuid',
    canonical.slice(1),
    `${canonical}0`,
    ` ${canonical}`,
    canonical.replace('a', 'g'),
    canonical.replace('-', '0'),
    '6931a6816-e90-500d-8294-14582dcc2e3f',
    '{6931a6816e90500d829414582dcc2e3f}',
    `(${canonical})`,
    `URN:UUID:${canonical}`,
    `urn:uuid:${canonical.slice(1)}x`,
    canonical.replace('6', '\uff16'),
    canonical.replace('6', '\u0136'),
    'x'.repeat(1000),
  ]
  for (const text of bad) t.equal(roundTrip(text), null, JSON.stringify(text.slice(0, 50)))
})

t.test('reads a uuid from the middle of other bytes', async (t) => {
  const bytes = Buffer.from(`"uuid":"${canonical}"}`)
  const target = new Uint8Array(16)
  t.equal(parseUuid(bytes, 8, 44, target, 0), true)
  t.equal(formatUuid(target, 0), canonical)
  t.equal(parseUuid(bytes, 7, 43, target, 0), false)
})

t.test('makes uuids of version 7 that carry their time and never repeat', async (t) => {
  const seen = new Set<string>()
  const target = new Uint8Array(16)
  for (let round = 0; round < 5000; round++) {
    writeUuidV7(1714564800123, target, 0)
    seen.add(formatUuid(target, 0))
  }
  t.equal(seen.size, 5000)
  for (const uuid of seen) {
    // 1714564800123 is 0x018f34069e7b.
    if (!/^018f3406-9e7b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid)) t.fail(uuid)
  }
})

t.test('a person is born to the uuid that the public API would give it', async (t) => {
  const vectors: [number, string, string][] = [
    [1, 'user-1', '6931a681-6e90-500d-8294-14582dcc2e3f'],
    [2, 'anon-123', 'ff4e6948-6b07-5c0c-80eb-8cb8a9a177ba'],
    [2, 'user@example.com', '689656f4-631a-57af-9696-0bf9b099affd'],
    [42, 'üser', '0efd3065-164c-5867-be25-7a83cd6138ab'],
  ]
  const target = new Uint8Array(24)
  for (const [projectId, distinctId, expected] of vectors) {
    const bytes = Buffer.from(`"${distinctId}"`)
    writeBornId(projectId, bytes, 1, bytes.length - 1, target, 8)
    t.equal(formatUuid(target, 8), expected)
  }
})

t.test('born ids of long distinct_ids do not depend on what was hashed before', async (t) => {
  const long = Buffer.from('x'.repeat(5000))
  const target = new Uint8Array(16)
  const idOf = (length: number): string => {
    writeBornId(7, long, 0, length, target, 0)
    return formatUuid(target, 0)
  }
  const first = [30, 38, 46, 200, 5000].map(idOf)
  t.same([30, 38, 46, 200, 5000].map(idOf), first)
  t.equal(new Set(first).size, 5)
})
