// The names of one event's properties that capture does not know, to notice one that comes twice. Quick rather than
// thorough: past a number of names it answers "perhaps", and what is only sampled cannot be used to make it slow.

/** Names compared in one event. Events have 20 to 60; whoever sends more pays for a closer look. */
const plainKeysMax = 128

const slotMask = 511

/** Open addressing by sampled hash; a slot is in use when it carries the present generation. */
export interface PlainKeys {
  readonly generations: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  generation: number
  count: number
}

export function createPlainKeys(): PlainKeys {
  return {
    generations: new Int32Array(slotMask + 1),
    starts: new Int32Array(slotMask + 1),
    ends: new Int32Array(slotMask + 1),
    generation: 0,
    count: 0,
  }
}

export function clearKeys(keys: PlainKeys): void {
  keys.generation = (keys.generation + 1) | 0
  keys.count = 0
}

/** Adds the key at [start, end), `sample` being its sampleKey. Returns false when it may have been there. */
export function addKey(
  keys: PlainKeys,
  bytes: Uint8Array,
  start: number,
  end: number,
  sample: number,
): boolean {
  if (keys.count === plainKeysMax) return false
  let slot = sample & slotMask
  while (keys.generations[slot] === keys.generation) {
    if (isSameSpan(bytes, keys.starts[slot]!, keys.ends[slot]!, start, end)) return false
    slot = (slot + 1) & slotMask
  }
  keys.generations[slot] = keys.generation
  keys.starts[slot] = start
  keys.ends[slot] = end
  keys.count++
  return true
}

/** True when both spans hold the same bytes. */
export function isSameSpan(
  bytes: Uint8Array,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): boolean {
  if (end - start !== otherEnd - otherStart) return false
  for (let at = start, other = otherStart; at < end; at++, other++) {
    if (bytes[at] !== bytes[other]) return false
  }
  return true
}
