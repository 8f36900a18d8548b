import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { capturePaths } from '../../src/capture/capture-task.ts'
import { decodeCapture } from '../../src/capture/decode.ts'
import { nextMember, openMembers } from '../../src/capture/members.ts'
import { openScan } from '../../src/capture/scan.ts'
import { alikeBodyText, bodyText } from './event-text.ts'
import { type PlainOutcome, plainDecode } from './plain-decode.ts'
import { dropsOf, rowsOf, task, warningsOf } from './tasks.ts'

/** An outcome in the oracle's words. */
function decoded(body: string, path: (typeof capturePaths)[number]): PlainOutcome {
  const outcome = decodeCapture(task(body, { path }))
  if (outcome.kind === 'refused') return { kind: 'refused', code: outcome.code }
  if (outcome.kind === 'unknown_key') return { kind: 'unknown_key', apiKey: outcome.apiKey }
  return {
    kind: 'captured',
    historical: outcome.historical,
    drops: dropsOf(outcome),
    warnings: warningsOf(outcome),
    rows: rowsOf(outcome).map(({ dedupKey, ...row }) => ({
      ...row,
      uuid: isDeepStrictEqual(dedupKey, [0, 0]) ? null : row.uuid,
      properties: JSON.parse(row.properties),
      person: row.person === '' ? null : JSON.parse(row.person),
    })),
  }
}

/** How many members an object's text has, keys that come twice counted twice. */
function memberCount(text: string): number {
  const scan = openScan(new Uint8Array(Buffer.from(text)), false)
  const member = openMembers(scan, 0)
  let count = 0
  while (nextMember(scan, member)) count++
  return count
}

t.test('stores no key twice', async () => {
  fc.assert(
    fc.property(fc.oneof(bodyText, alikeBodyText), (body) => {
      const outcome = decodeCapture(task(body))
      if (outcome.kind !== 'captured') return
      for (const { properties, person } of rowsOf(outcome)) {
        for (const text of [properties, person === '' ? '{}' : person]) {
          if (memberCount(text) !== Object.keys(JSON.parse(text)).length) throw new Error(text)
        }
      }
    }),
    { numRuns: 2000 },
  )
})

t.test('decodes every body as the plain version does', async (t) => {
  const counts = { captured: 0, refused: 0, unknown_key: 0, rows: 0 }
  fc.assert(
    fc.property(bodyText, fc.constantFrom(...capturePaths), (body, path) => {
      const expected = plainDecode(task(body, { path }))
      const found = decoded(body, path)
      counts[expected.kind]++
      if (expected.kind === 'captured') counts.rows += expected.rows.length
      if (!isDeepStrictEqual(found, expected)) {
        throw new Error(
          `found ${JSON.stringify(found, null, 1)}\nexpected ${JSON.stringify(expected, null, 1)}`,
        )
      }
    }),
    { numRuns: 5000 },
  )
  // The bodies are worth something only when most of them are events.
  t.ok(counts.rows > 2000 && counts.refused > 100 && counts.unknown_key > 10, JSON.stringify(counts))
})

t.test('decodes runs of events that are alike as the plain version does', async () => {
  fc.assert(
    fc.property(alikeBodyText, (body) => isDeepStrictEqual(decoded(body, '/batch'), plainDecode(task(body)))),
    { numRuns: 2000 },
  )
})
