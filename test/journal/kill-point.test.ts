// The process kills itself at each named point; the next start finds everything that was acknowledged.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openJournal } from '../../src/journal/client.ts'
import type { Position } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { journalKillPoints } from '../../src/kill-point.ts'
import { part, textOf } from './lane-world.ts'

const child = fileURLToPath(new URL('./append-child.js', import.meta.url))

/** Appends in a process of its own until that ends; returns its signal and the ids it saw acknowledged. */
function appendUntilKilled(
  folder: string,
  killAt: string,
): Promise<{ signal: string | null; ids: string[] }> {
  const { promise, resolve } = withResolvers<{ signal: string | null; ids: string[] }>()
  const one = spawn(process.execPath, [child, folder, killAt], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  one.stdout.on('data', (bytes: Buffer) => {
    out += bytes.toString()
  })
  one.on('close', (_, signal) => resolve({ signal, ids: out.split('\n').filter((line) => line !== '') }))
  return promise
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

for (const point of journalKillPoints) {
  t.test(`loses nothing acknowledged when killed at ${point}`, async (t) => {
    const folder = t.testdir()
    const options = {
      dir: join(folder, 'journal'),
      quarantineDir: join(folder, 'quarantine'),
      segmentBytes: 4096,
      freeBytesMin: 0,
    }
    // Recovery has something to do only after another crash.
    const before = point === 'during_recovery' ? await appendUntilKilled(folder, 'before_ack') : null
    const { signal, ids } = await appendUntilKilled(folder, point)
    t.equal(signal, 'SIGKILL')
    const journal = await openJournal(options)
    await journal.append('realtime', [part('last')])
    const { oldest, committed } = journal.state().lanes.realtime
    const reader = openJournalReader(options)
    const found: string[] = []
    for (let from: Position = oldest; from < committed; ) {
      const chunk = reader.read('realtime', from, committed, 10_000)
      t.same(chunk.gaps, [])
      found.push(...chunk.records.map(textOf))
      from = chunk.next
    }
    await journal.close()
    const acknowledged = [...(before?.ids ?? []), ...ids].filter((id) => Number(id) >= Number(found[0]))
    t.same(
      acknowledged.filter((id) => !found.includes(id)),
      [],
    )
    t.equal(found.at(-1), 'last')
    if (point === 'retention_unlink') t.ok(oldest > 0)
    if (point === 'segment_roll') t.ok(ids.length > 0)
  })
}
