// Plain helpers on bytes that more than one room needs.

/** A view on memory that may be transferred to another thread, hence never a SharedArrayBuffer. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Rounds `size` up to the next multiple of 8. */
export function alignTo8(size: number): number {
  return (size + 7) & ~7
}

/** Prints a byte count the way error messages show it: "20 MiB", "1.5 KiB", "12 bytes". */
export function formatBytes(size: number): string {
  if (size < 1024) return `${size} bytes`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = size / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`
}
