// How many rows one transaction takes.
//
// By whole row groups when at least one waits: DuckDB then writes the rows compressed into its file at once instead of
// writing them twice, into the write-ahead log and at the next checkpoint. By time when less waits: a transaction of
// about 300 ms keeps rows fresh. CPU µs per event with checkpoint and bytes of the file per event, 1.2 KB events,
// DuckDB 1.5.6, Node 20.20.2, a machine that others use too:
//
//   rows of a row group   of a transaction    µs     bytes
//             122,880          122,880        8.8     111
//             122,880            8,192       10.5     109
//              20,480           20,480        7.2     134
//              16,384           32,768        7.5     128
//              16,384           16,384        7.5     134
//               8,192            8,192        7.7     166
//
// So many rows are there in half a second of a busy server, 122,880 in four.

/** Rows of a row group of the store, a multiple of DuckDB's 2,048. */
export const rowGroupRows = 16_384
/**
 * DuckDB holds up to five in memory until the COMMIT, which this thread does not wait for; more it writes before. With
 * four, bodies of 120,000 events took 50 MB more memory and no less time.
 */
const rowGroupsMax = 2

const rowsMost = rowGroupRows * rowGroupsMax
const stepMsAim = 300
const rowsMin = 1024

export class Pace {
  /** Start values are careful guesses; the first steps correct them. */
  #msPerRow = 0.02
  #bytesPerRow = 1200
  #rowsMax = rowsMost

  /** No transaction may be larger: less than it might be after one that failed. */
  get rowsMax(): number {
    return this.#rowsMax
  }

  /** Journal bytes that a row group is expected to take. */
  get rowGroupBytes(): number {
    return this.bytes(rowGroupRows)
  }

  /** Rows for the next transaction when `waitingBytes` of journal wait. */
  rows(waitingBytes: number): number {
    const rowGroups = Math.floor(waitingBytes / this.rowGroupBytes)
    const byTime = Math.max(rowsMin, Math.round(stepMsAim / this.#msPerRow))
    const rows = rowGroups > 0 ? rowGroups * rowGroupRows : byTime
    return Math.min(rows, this.#rowsMax)
  }

  /** Journal bytes that `rows` rows are expected to take. */
  bytes(rows: number): number {
    return rows * this.#bytesPerRow
  }

  /** Learns from a finished transaction. */
  applied(rows: number, bytes: number, ms: number): void {
    this.#rowsMax = Math.min(rowsMost, this.#rowsMax * 2)
    // Small transactions are all overhead and would teach the wrong lesson.
    if (rows < rowsMin) return
    this.#msPerRow = (this.#msPerRow + ms / rows) / 2
    this.#bytesPerRow = (this.#bytesPerRow + bytes / rows) / 2
  }

  /** Halves the next transaction after one that ran out of memory, disk or luck. */
  failed(rows: number): void {
    this.#rowsMax = Math.max(1, Math.floor(Math.min(rows, this.#rowsMax) / 2))
  }
}
