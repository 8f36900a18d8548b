// Version 1 of an event batch, which is still read: behind the columns of fixed width stood
//
//   ends         5 × count × u32      end of each value in its text column, exclusive, without its separator
//   text         5 columns back to back, in the order of textColumnNames
//
// with a separator byte behind every value, and in the person column each event's members as the text of an object.

/** Fills the spans of every column named from what stands at `at`. Returns false when one is not within its column. */
export function readEnds<Name extends string>(
  view: DataView,
  at: number,
  names: readonly Name[],
  spans: Readonly<Record<Name, Uint32Array>>,
): boolean {
  const [first] = names
  if (first === undefined) return true
  const count = spans[first].length / 2
  let ends = at
  let text = at + names.length * count * 4
  if (text > view.byteLength) return false
  for (const name of names) {
    const ofColumn = spans[name]
    let start = text
    for (let row = 0; row < count; row++) {
      const end = text + view.getUint32(ends, true)
      ofColumn[row * 2] = start
      ofColumn[row * 2 + 1] = end
      if (end < start) return false
      start = end + 1
      ends += 4
    }
    text = start
  }
  return text === view.byteLength
}
