import t from 'tap'
import { BornIds } from '../../src/capture/born-ids.ts'
import { createRun } from '../../src/capture/known-run.ts'
import { TextArena } from '../../src/capture/text-arena.ts'
import { formatUuid, writeBornId } from '../../src/lib/uuid.ts'

/** The born id of `id` as `bornIds` has it, behind another text and between other born ids. */
function remembered(bornIds: BornIds, projectId: number, id: string): string {
  const arena = new TextArena(256)
  const bytes = Buffer.from(`before${id}`)
  arena.append(bytes, 0, bytes.length)
  arena.valueStart = 6
  const words = new Int32Array(12)
  bornIds.write(projectId, arena, words, 4)
  t.same([...words.subarray(0, 4), ...words.subarray(8)], Array(8).fill(0))
  return formatUuid(new Uint8Array(words.buffer), 16)
}

function derived(projectId: number, id: string): string {
  const bytes = Buffer.from(id)
  const target = new Uint8Array(16)
  writeBornId(projectId, bytes, 0, bytes.length, target, 0)
  return formatUuid(target, 0)
}

t.test(
  'gives ids of any length the born id that is derived from them, whether it is remembered or not',
  async (t) => {
    const bornIds = new BornIds(createRun(null).bornSlots)
    const ids = Array.from({ length: 45 }, (_, length) => '0123456789'.repeat(5).slice(0, length))
    // What a shorter id is padded with is told from what a longer one ends with.
    ids.push('a\0', 'a\0\0\0', 'a', 'a\0\0\0\0')
    for (const projectId of [1, 2, 1]) {
      for (const id of ids)
        t.equal(remembered(bornIds, projectId, id), derived(projectId, id), JSON.stringify([projectId, id]))
    }
  },
)

t.test('remembers some of more senders than it has room for', async (t) => {
  const bornIds = new BornIds(createRun(null).bornSlots)
  const wrong: string[] = []
  for (let index = 0; index < 20_000; index++) {
    const arena = new TextArena(64)
    // Some come again and again between the others.
    const id = Buffer.from(`sender ${index % 7 === 0 ? index % 100 : index}`)
    arena.append(id, 0, id.length)
    const words = new Int32Array(4)
    bornIds.write(1, arena, words, 0)
    const found = formatUuid(new Uint8Array(words.buffer), 0)
    if (found !== derived(1, id.toString())) wrong.push(id.toString())
  }
  t.same(wrong, [])
})
