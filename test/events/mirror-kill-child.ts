// Run by mirror-kill.test.ts in a process of its own: brings the mirror in the folder given from wherever it stands to
// its end, and dies at the kill point given. Arguments: data folder, kill point or "none".

import { Mirror } from '../../src/events/mirror.ts'
import type { MirrorChange, MirrorCursor, MirrorPage } from '../../src/events/mirror-page.ts'
import { openStore } from '../../src/events/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { uuidOf } from './make-batch.ts'

const epoch = uuidOf(0xe)
/** Rows of the base, in pages of ten. */
export const baseRows = 30
/** Changes behind it, in pages of ten and steps of thirty. */
export const changeCount = 200
const stepRows = 30

/** Change `seq` gives one of forty ids to somebody. */
export const bornAt = (seq: number) => seq % 40
export const personAt = (seq: number) => 1000 + seq

function at(seq: number, rest: string | null): MirrorCursor {
  return { epoch, seq, mark: seq === 0 ? null : uuidOf(0xf0000 + seq), rest }
}

function override(seq: number, born: number, person: number): MirrorChange {
  const ids = { bornId: uuidOf(born), personUuid: uuidOf(person) }
  return { seq, change: { kind: 'override', projectId: 1, ...ids } }
}

/** What leads on from where the mirror stands; null at the end. */
function pageFrom(from: MirrorCursor | null): MirrorPage | null {
  if (from === null) return { from, to: at(0, 'from 0'), isAnew: true, changes: [] }
  const ten = Array.from({ length: 10 }, (_, i) => i)
  if (from.rest?.startsWith('from ')) {
    const first = Number(from.rest.slice('from '.length))
    const next = first + 10
    const changes = ten.map((i) => override(0, first + i, 500 + first + i))
    return { from, to: at(0, next < baseRows ? `from ${next}` : null), isAnew: false, changes }
  }
  if (from.seq === changeCount) return null
  const changes = ten.map((i) => from.seq + 1 + i).map((seq) => override(seq, bornAt(seq), personAt(seq)))
  const stepEnd = Math.min(changeCount, Math.ceil((from.seq + 10) / stepRows) * stepRows)
  const rest = from.seq + 10 === stepEnd ? null : `step up to ${stepEnd}`
  return { from, to: at(from.seq + 10, rest), isAnew: false, changes }
}

async function main(dataDir: string, killAt: string | null): Promise<void> {
  const store = await openStore({
    dataDir,
    memoryLimitBytes: 256 * 1024 * 1024,
    threads: 2,
    isJournalComplete: true,
    clock: systemClock,
  })
  const mirror = await Mirror.open(store.writer, {
    clock: systemClock,
    killAt,
    copyChangesMin: 50,
    sliceRows: 25,
  })
  for (let round = 1; ; round++) {
    const { cursor, isTendingDue } = mirror.mirrored
    // As if upkeep had failed: the page ends the copy that is under way.
    const isUpkeep = isTendingDue && round % 7 > 0
    const page = isUpkeep
      ? null
      : pageFrom(isTendingDue && cursor !== null ? { ...cursor, rest: null } : cursor)
    if (isUpkeep || (isTendingDue && page === null)) await mirror.tend()
    else if (page !== null) await mirror.apply(page)
    else break
    if (round % 5 === 0) await store.writer.run('checkpoint')
  }
  store.close()
}

const [, script, dataDir, killAt] = process.argv
if (script?.endsWith('mirror-kill-child.js') && dataDir !== undefined) {
  await main(dataDir, killAt === undefined || killAt === 'none' ? null : killAt)
}
