// Merges JSON objects in their text: of members with the same key, compared unescaped, the last one stays. With one
// object it resolves repeated keys the way JSON.parse does. Values are copied as they stand, and so are keys.

import { randomInt } from 'node:crypto'
import { closeBrace, comma, openBrace } from './json-bytes.ts'
import { nextMember, openMembers } from './members.ts'
import type { Scan } from './scan.ts'
import { TextArena } from './text-arena.ts'
import { unescapeTo } from './unescape.ts'

/** Nobody outside knows which keys collide. */
const hashSeed = randomInt(2 ** 31)

/** The members met so far: typed arrays only, since a hostile object has millions of them. */
interface MemberTable {
  /** Four for each member: start and end of its text, start and end of its unescaped key in `keys`. */
  cells: Int32Array
  count: number
  /** Number of the member that holds a key, plus one; 0 for an empty slot. */
  slots: Int32Array
  readonly keys: TextArena
}

const cellSize = 4

/** Members for which the thread keeps room. */
const keptMembers = 64

// Used for one merge at a time.
const keptTable = createTable()

/** Appends the merged text of the objects at `places` to `target`, those further back in the list prevailing. */
export function mergeObjects(scan: Scan, places: readonly number[], target: TextArena): void {
  const table = keptTable
  for (const place of places) {
    const member = openMembers(scan, place)
    while (nextMember(scan, member)) addMember(table, scan.bytes, member.keyStart, member.keyEnd, member.end)
  }
  writeMembers(table, scan.bytes, target)
  clearTable(table)
}

function createTable(): MemberTable {
  return {
    cells: new Int32Array(cellSize * keptMembers),
    count: 0,
    slots: new Int32Array(2 * keptMembers),
    keys: new TextArena(4096),
  }
}

/** Empties the table, and gives back what a large object made it take. */
function clearTable(table: MemberTable): void {
  table.count = 0
  table.keys.clear(0)
  if (table.cells.length > cellSize * keptMembers) {
    table.cells = new Int32Array(cellSize * keptMembers)
    table.slots = new Int32Array(2 * keptMembers)
  } else table.slots.fill(0)
}

function addMember(
  table: MemberTable,
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  end: number,
): void {
  if (table.count * cellSize === table.cells.length) growTable(table)
  const { cells, keys } = table
  keys.reserve(keyEnd - keyStart)
  const at = table.count * cellSize
  cells[at] = keyStart - 1
  cells[at + 1] = end
  cells[at + 2] = keys.size
  keys.size = unescapeTo(bytes, keyStart, keyEnd, keys.bytes, keys.size)
  cells[at + 3] = keys.size
  table.count++
  const slot = findSlot(table, at)
  const earlier = table.slots[slot]!
  if (earlier > 0) cells[(earlier - 1) * cellSize + 1] = 0 // no text ends at 0: this one is replaced
  table.slots[slot] = table.count
}

/** The slot of a member with the same key as the one at `at` of the cells, or the empty one where it belongs. */
function findSlot(table: MemberTable, at: number): number {
  const { cells, slots, keys } = table
  const start = cells[at + 2]!
  const length = cells[at + 3]! - start
  let hash = hashSeed
  for (let index = 0; index < length; index++) hash = Math.imul(hash ^ keys.bytes[start + index]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  const mask = slots.length - 1
  for (let slot = (hash ^ (hash >>> 13)) & mask; ; slot = (slot + 1) & mask) {
    const other = slots[slot]! - 1
    if (other < 0) return slot
    const otherStart = cells[other * cellSize + 2]!
    if (cells[other * cellSize + 3]! - otherStart !== length) continue
    let index = 0
    while (index < length && keys.bytes[start + index] === keys.bytes[otherStart + index]) index++
    if (index === length) return slot
  }
}

function growTable(table: MemberTable): void {
  const grown = new Int32Array(table.cells.length * 2)
  grown.set(table.cells)
  table.cells = grown
  table.slots = new Int32Array(table.slots.length * 2)
  // Replaced members are met before those that replaced them, which then take the slot.
  for (let index = 0; index < table.count; index++) table.slots[findSlot(table, index * cellSize)] = index + 1
}

function writeMembers(table: MemberTable, bytes: Uint8Array, target: TextArena): void {
  target.reserve(2)
  target.put(openBrace)
  let separator = openBrace
  for (let index = 0; index < table.count; index++) {
    const start = table.cells[index * cellSize]!
    const end = table.cells[index * cellSize + 1]!
    if (end === 0) continue
    target.reserve(end - start + 2)
    if (separator === comma) target.put(comma)
    separator = comma
    target.append(bytes, start, end)
  }
  target.put(closeBrace)
}
